"""`thence doctor`: is everything there that Thence needs?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.table import Table

    from thence.cli.checks import Finding


@click.command()
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Check what Thence needs, and say how to mend what is missing."""
    from rich.console import Console

    from thence.cli.checks import CHECKS

    findings = [check() for check in CHECKS]
    console = Console()
    console.print(table(findings))
    for finding in findings:
        if not finding.ok:
            # a command is there to be copied: neither wrapped nor coloured
            console.print(f"{finding.name}: {finding.cure}", soft_wrap=True, markup=False, highlight=False)
    ctx.exit(0 if all(finding.ok for finding in findings) else 1)


def table(findings: Sequence[Finding]) -> Table:
    from rich.table import Table
    from rich.text import Text

    rows = Table("", "what", "found")
    for finding in findings:
        status = Text("ok", style="green") if finding.ok else Text("fault", style="bold red")
        rows.add_row(status, finding.name, Text(finding.detail))
    return rows
