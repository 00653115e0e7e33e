"""What a person touches: the `thence` command. Each command's module imports what is heavy only once it runs."""

from thence.cli.check import check
from thence.cli.command import main
from thence.cli.demo import demo
from thence.cli.doctor import doctor
from thence.cli.explain import explain
from thence.cli.run import run

for command in (run, check, explain, demo, doctor):
    main.add_command(command)

__all__ = ["main"]
