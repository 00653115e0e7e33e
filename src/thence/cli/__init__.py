"""What a person touches: the `thence` command. Each command's module imports what is heavy only once it runs."""

from thence.cli.demo import demo
from thence.cli.doctor import doctor
from thence.cli.group import main

main.add_command(demo)
main.add_command(doctor)

__all__ = ["main"]
