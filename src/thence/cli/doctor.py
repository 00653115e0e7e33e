"""`thence doctor`: is everything there that Thence needs?"""

from __future__ import annotations

import click


@click.command()
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Check what Thence needs, and say how to mend what is missing."""
    from rich.console import Console
    from rich.text import Text

    from thence.cli.installation import CHECKS
    from thence.cli.text_tables import table

    findings = [check() for check in CHECKS]
    console = Console()
    status = {True: Text("ok", style="green"), False: Text("fault", style="bold red")}
    rows = [(status[finding.ok], finding.name, finding.detail) for finding in findings]
    console.print(table("", ("", "what", "found"), rows))
    for finding in findings:
        if not finding.ok:
            # a command is there to be copied: neither wrapped nor coloured
            console.print(f"{finding.name}: {finding.cure}", soft_wrap=True, markup=False, highlight=False)
    ctx.exit(0 if all(finding.ok for finding in findings) else 1)
