"""The `thence` command itself: its options, and how errors are reported.

Exit status: 0 done, 1 failed while running, 2 the call, a file or the query is wrong.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from functools import partial
from typing import IO, Any

import click

from thence import __version__
from thence.cli.option_names import in_options
from thence.errors import AllBadError, InputError, QueryError, RdfError, ThenceError, ThenceWarning


class CommandFailure(click.ClickException):
    """An error as the user sees it: one sentence on stderr, for a query also the faulty line with its caret."""

    def __init__(self, message: str, *, caret: str = "") -> None:
        super().__init__(message)
        self.caret = caret

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(f"thence: {self.message}", file=file, err=file is None)
        if self.caret:
            click.echo(self.caret, file=file, err=file is None)


class WrongCall(CommandFailure):
    """The call, a file or the query is wrong: nothing was run."""

    exit_code = 2


def failure(error: Exception) -> CommandFailure:
    """An error as the user sees it.

    >>> failure(InputError("There is no file power.trig.")).exit_code
    2
    """
    match error:
        case QueryError():
            return WrongCall(str(error), caret=error.caret)
        case AllBadError():
            return CommandFailure(in_options(str(error)))
        case InputError() | RdfError():
            return WrongCall(in_options(str(error)))
        case ThenceError():
            return CommandFailure(in_options(str(error)))
        case _:
            reason = f"a bug in Thence, {type(error).__name__}: {error}"
            return CommandFailure(f"{reason}. Run it with `thence --debug …` and report its output.")


def wrong_call(error: click.UsageError) -> WrongCall:
    """An error of click, as one sentence with a cure."""
    message = " ".join(error.format_message().split())
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option):
        return WrongCall(f"{message} Try: {error.param.opts[0]} {error.param.metavar or '…'}")
    if isinstance(error, click.NoSuchOption) and error.possibilities:
        return WrongCall(f"No such option: {error.option_name}. Try: {' or '.join(sorted(error.possibilities))}")
    path = "thence" if error.ctx is None or error.ctx.parent is None else f"thence {error.ctx.info_name}"
    return WrongCall(message if "Did you mean" in message else f"{message.rstrip('.')}. Try: {path} --help")


def show_warning(
    others: Callable[..., None], message: Warning | str, category: type[Warning], *place: Any, **options: Any
) -> None:
    """Print a warning of ours as one line; `others` prints any other."""
    if issubclass(category, ThenceWarning):
        click.echo(f"thence: warning: {in_options(str(message))}", err=True)
    else:
        others(message, category, *place, **options)


class CommandGroup(click.Group):
    """Turns every error of a command into a `CommandFailure`; `--debug` shows the stack trace before it."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", ThenceWarning)
                warnings.showwarning = partial(show_warning, warnings.showwarning)
                return super().invoke(ctx)
        except click.UsageError as error:
            raise wrong_call(error) from None
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise  # click ends these cleanly
        except Exception as error:
            if ctx.params.get("debug"):
                traceback.print_exception(error)
            raise failure(error) from error


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="thence")
@click.option("--debug", is_flag=True, help="Show the stack trace of an error.")
def main(debug: bool) -> None:
    """Complex event processing over RDF graph streams and plain DataFrames."""
