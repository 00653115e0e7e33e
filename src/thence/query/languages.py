"""The table of languages, and which of them a text is in.

Adding a language adds one line here; nothing else in `query`, `runtime`, `local`, `spark` or `cli` knows any of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from thence.algebra.streams import Report
from thence.errors import InputError, closest, listed
from thence.interface.operator import Feature

if TYPE_CHECKING:
    from thence.algebra.funnel import FunnelStep
    from thence.algebra.streams import QueryAlgebra
    from thence.interface.dataflow import Dataflow


@dataclass(frozen=True, slots=True)
class OrderNames:
    """The option `order` as a caller names things: the columns or predicates of each stream; under None, of all."""

    by_stream: tuple[tuple[str | None, tuple[str, ...]], ...] = ()


NO_ORDER = OrderNames()


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """The options that a query is compiled for, as far as its language has them."""

    optimise: bool = True
    timed_out: bool = False
    reasoning: str | None = None
    policy: str | None = None
    report: Report | None = None
    order: OrderNames = NO_ORDER


@dataclass(frozen=True, slots=True)
class Language:
    """A language: `name` is what options call it, `title` what its paper does. `keywords` is a regular expression that
    recognises it. `parser` turns text into algebra, `compiler` algebra into a dataflow: functions, by module and name,
    imported when they are first needed. `options` are those that some of its
    queries support, `policies` what the option `policy` can be."""

    name: str
    title: str
    ending: str
    keywords: str
    parser: str
    compiler: str
    options: frozenset[Feature] = frozenset()
    policies: tuple[str, ...] = ()  # what `policy` can be
    funnel: str = ""  # the function that cuts an algebra into the steps of a funnel, by module and name

    def steps(self, algebra: QueryAlgebra) -> Iterator[FunnelStep]:
        """The steps of the funnel of a query."""
        found: Iterator[FunnelStep] = resolve_name(self.funnel)(algebra)
        return found

    def parse(self, text: str, *, source: str, namespace: str | None) -> QueryAlgebra:
        algebra: QueryAlgebra = resolve_name(self.parser)(text, source=source, namespace=namespace)
        return algebra

    def compile(self, algebra: Any, options: CompileOptions) -> Dataflow:
        given: dict[str, Any] = {"optimise": options.optimise, "timed_out": options.timed_out}
        if Feature.REASONING in self.options:
            given["reasoning"] = options.reasoning is not None
        if Feature.POLICY in self.options:
            given["policy"] = options.policy or ""
        if Feature.REPORT in self.options:
            given["report"] = options.report
        dataflow: Dataflow = resolve_name(self.compiler)(algebra, **given)
        return dataflow


_BACKGROUND, _TIMED_OUT, _ORDER = Feature.BACKGROUND, Feature.TIMED_OUT, Feature.ORDER
_REGISTER = r"\bREGISTER\s+(?:[RID]?STREAM|QUERY)\b"
_WINDOWS = rf"\bWIN\b|\bWINDOW\b|\bEVENT\s+ON\b|\[\s*(?:RANGE|NOW|TRIPLES|ELEMENTS)\b|\bSTREAM\s*\[|{_REGISTER}"
_FACTS = (
    r"\b(?:FACT|SINCE|UNTIL|TILL|REPLACE(?!\s*\()|DURING|HAPPENSWHILE|DECLARE|ONCE\s+PER|ONSTART|ONEND|WITHOUT)\b"
    r"|\bCONSTRUCT\s+EVENT\b|\b(?:WHERE|UNION)[\s({]*+REPLACE\b|[)}]\s*+(?:BEFORE|WITH)\b|\b(?:BEFORE|WITH)\s*+[({]"
)
_NO_FACTS = r"\A(?![\s\S]*\b(?:CONSTRUCT\s+FACT|SINCE)\b)[\s\S]*"
"""Matches a text without CONSTRUCT FACT and SINCE, which a text with windows never has."""
_INTERVALS = r"\}\s*+(?:SEQ|EQUALS|OPTIONALSEQ|EQUALSOPTIONAL)\b|\bget(?:DURATION|STARTTIME|ENDTIME)\b"
_GRAPHS = rf"\A(?![\s\S]*(?:{_FACTS}|{_INTERVALS}))[\s\S]*\bFROM\b(?!-|\s+STREAM\b)"
"""FROM for a graph, which no other language has."""

# in the order in which their keywords are looked for; a text without any is of the last one
LANGUAGES: tuple[Language, ...] = (
    Language(
        "spaseq",
        "SPAseQ",
        ".spaseq",
        r"\bGPM\b",
        "thence.lang.spaseq.parser:parse",
        "thence.engines.automaton.plan.spaseq:compile_query",
        frozenset({_BACKGROUND, _TIMED_OUT, _ORDER}),
        funnel="thence.algebra.funnel:spaseq_steps",
    ),
    Language(
        "sase+",
        "SASE+",
        ".sase",
        r"\bPATTERN\b",
        "thence.lang.sase.parser:parse",
        "thence.engines.automaton.plan.sase:compile_query",
        frozenset({_ORDER}),
        funnel="thence.algebra.funnel:sase_steps",
    ),
    Language(
        "rsep-ql",
        "RSEP-QL",
        ".rsepql",
        f"{_NO_FACTS}(?:{_WINDOWS})|{_GRAPHS}",
        "thence.lang.rsep_ql.parser:parse_file",
        "thence.engines.windows.plan.rsep_ql:compile_file",
        frozenset({_BACKGROUND, Feature.POLICY, Feature.REPORT}),
        ("ep-sparql-unrestricted", "ep-sparql-chronological", "ep-sparql-recent", "c-sparql"),
    ),
    Language(
        "tef-sparql",
        "TEF-SPARQL",
        ".tefsparql",
        _FACTS,
        "thence.lang.tef_sparql.parser:parse",
        "thence.engines.facts.plan.tef_sparql:compile_query",
        frozenset({_BACKGROUND, Feature.HISTORY, _ORDER}),
    ),
    Language(
        "ep-sparql",
        "EP-SPARQL",
        ".epsparql",
        "",
        "thence.lang.ep_sparql.parser:parse",
        "thence.engines.temporal.plan.ep_sparql:compile_query",
        frozenset({_BACKGROUND, Feature.REASONING, Feature.POLICY}),
        ("unrestricted", "chronological", "recent"),
    ),
)

POLICIES = tuple(dict.fromkeys(policy for language in LANGUAGES for policy in language.policies))
"""Of all languages."""

# What is no keyword, whatever it looks like: IRIs, strings, comments, variables, names with a prefix. A string need not
# end, so that nothing is read twice.
_CHUNK = re.compile(r"""<[^<>"{}|^`\\\s]*>|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|\#[^\n]*|[\w:?$]+""")


def language_named(name: str) -> Language:
    """The language of that name.

    >>> language_named("SPAseQ").title
    'SPAseQ'
    """
    known = {language.name: language for language in LANGUAGES}
    found = known.get(name.casefold())
    if found is None:
        cure = closest(name, known) or listed(known)
        raise InputError(f'There is no language "{name}". Try: {cure}')
    return found


def recognised(text: str, path: PurePath | None = None) -> Language:
    """The language of a query: by the ending of its file, else by its keywords.

    >>> recognised("SELECT * FROM STREAM S <x:s> { SEQ (A ; B) DEFINE GPM A ON S { ?a <x:p> 1 } }").name
    'spaseq'
    >>> recognised("PATTERN SEQ(Stock a, Stock b) WITHIN 10").name
    'sase+'
    """
    if path is not None:
        for language in LANGUAGES:
            if path.suffix.lower() == language.ending:
                return language
    words = _CHUNK.sub(_word, text)
    return next(each for each in LANGUAGES if re.search(each.keywords, words, re.IGNORECASE))


def _word(found: re.Match[str]) -> str:
    return found[0] if re.fullmatch(r"\w+", found[0]) else " "
