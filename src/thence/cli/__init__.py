"""The `thence` command. Each command's module imports heavy libraries only when it runs.

Tests: tests/cli.
"""

from thence.cli.command import main
from thence.cli.demo import demo
from thence.cli.doctor import doctor
from thence.cli.explain import check, explain
from thence.cli.run import run
from thence.cli.schema import schema

for command in (run, check, explain, schema, demo, doctor):
    main.add_command(command)

__all__ = ["main"]
