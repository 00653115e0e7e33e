"""A notice that code is being compiled: without it the first run would seem to hang."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

NOTICE = "Compiling: up to 20 seconds, once; later runs find it done."


@contextmanager
def compile_notice() -> Iterator[None]:
    """Inside, the first function that Numba compiles, and does not find in its cache, puts a notice on stderr."""
    from numba.core import event

    class Teller(event.Listener):
        told = False

        def on_start(self, event: object) -> None:
            if not self.told:
                self.told = True
                click.echo(NOTICE, err=True)

        def on_end(self, event: object) -> None:
            pass

    with event.install_listener("numba:compile", Teller()):
        yield
