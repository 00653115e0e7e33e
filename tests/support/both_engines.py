"""`thence run` with both engines, as a process of its own."""

from __future__ import annotations

from click.testing import CliRunner, Result

from thence.cli import main


def thence_(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "100"}).invoke(main, arguments)


def both(*arguments: str) -> tuple[Result, Result]:
    return thence_("run", *arguments, "--engine", "spark"), thence_("run", *arguments, "--engine", "local")
