"""`thence demo`: queries over small streams that ship with the package, run as `thence run` runs them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from thence.cli.engine_choice import spark_lacks
from thence.cli.run import Run, command_options, launched, run_here
from thence.errors import InputError, closest, listed

if TYPE_CHECKING:
    from thence.query.languages import Language

EXAMPLES = Path(__file__).parent.parent / "examples"


@dataclass(frozen=True, slots=True)
class Demo:
    """A question about some data, and its files in the package: the query, the events of its streams, its background;
    `prefixes` are for the table."""

    data: str
    asks: str
    query: str
    streams: Mapping[str, str]
    background: str | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict)

    @property
    def language(self) -> Language:
        from thence.query.languages import LANGUAGES

        return next(each for each in LANGUAGES if each.ending == Path(self.query).suffix)

    def as_run(self) -> Run:
        """The call of `thence run` that it is."""
        from thence.query.query import parse

        query = parse(EXAMPLES / self.query)
        return Run(
            replace(query, prefixes={**query.prefixes, **self.prefixes}),
            {stream: [str(EXAMPLES / file)] for stream, file in self.streams.items()},
            command_options(background=self.background and EXAMPLES / self.background),
        )


DEMOS = {
    "smartgrid": Demo(
        "RDF",
        "Who should switch from fuel to stored solar power?",
        "smartgrid.spaseq",
        {stream: f"smartgrid-{stream}.trig" for stream in ("S1", "S2", "S3")},
        background="smartgrid.ttl",
        prefixes={"h": "http://smartgrid.org/house/"},
    ),
    "stocks": Demo(
        "a table",
        "Where did a price rise until the volume plummeted?",
        "stocks.sase",
        {"events": "stocks.csv"},
    ),
    "tsunami": Demo(
        "a table",
        "Which heights of the sea differ from their prediction?",
        "tsunami/tsunami.epsparql",
        {"events": "tsunami/readings.csv"},
    ),
    "city": Demo(
        "two tables",
        "Which garages have places left, where cars hardly move?",
        "city/parking.rsepql",
        {stream: f"city/{stream}.csv" for stream in ("traffic", "parking")},
        background="city/city.ttl",
    ),
    "viewers": Demo(
        "RDF",
        "How many people watched a show, at most and on average?",
        "tef_sparql/viewers.tefsparql",
        {"events": "tef_sparql/viewers.trig"},
        background="tef_sparql/channels.ttl",
    ),
}


@click.command()
@click.argument("name", default="smartgrid")
@click.option(
    "--engine",
    type=click.Choice(("spark", "local")),
    help="Where it runs: spark uses all cores of this machine, local is one process, as where Spark is missing.",
)
@click.option("--query", "only_query", is_flag=True, help="Print the query, and do not run it.")
@click.option("--list", "only_list", is_flag=True, help="List the demos.")
def demo(name: str, engine: str | None, only_query: bool, only_list: bool) -> None:
    """Run a query over small streams and show its matches. `thence demo --list` lists them: one for each language."""
    if only_list:
        _print_list()
        return
    chosen = _demo(name)
    if only_query:
        click.echo((EXAMPLES / chosen.query).read_text(encoding="utf-8"), nl=False)
        return
    if engine is None:
        engine = _engine()
    where = "on Spark, on all cores of this machine" if engine == "spark" else "in one process"
    click.echo(f"{chosen.asks} A query in {chosen.language.title} over {chosen.data}, {where}.", err=True)
    if engine == "spark":
        with launched(quick=True) as launch:
            from thence.cli.spark_run import run_on_spark  # Spark is heavy

            run_on_spark(chosen.as_run(), launch)
    else:
        run_here(chosen.as_run())
    _print_next(name)


def _demo(name: str) -> Demo:
    if name not in DEMOS:
        meant = closest(name, DEMOS)
        cure = f"thence demo {meant}" if meant else "thence demo --list"
        raise InputError(f"There is no demo {name}: it is {listed(DEMOS)}. Try: {cure}")
    return DEMOS[name]


def _engine() -> str:
    """Spark, which a demo shows at work, if it is there; else one process, and why."""
    lacking = spark_lacks()
    if lacking is None:
        return "spark"
    click.echo(f"{lacking[0]}. So this runs in one process. For Spark: {lacking[1]}", err=True)
    return "local"


def _print_list() -> None:
    rows = [(name, each.language.title, each.data, each.asks) for name, each in DEMOS.items()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())


def _print_next(name: str) -> None:
    command = _command()
    click.echo(f"\nThe query:    {command} demo {name} --query", err=True)
    click.echo(f"Other demos:  {command} demo --list", err=True)


def _command() -> str:
    """How this user can call us: by name, as it was called now, or by Python."""
    called = sys.argv[0]
    if shutil.which("thence"):
        return "thence"
    return called if Path(called).name == "thence" else f"{sys.executable} -m thence"
