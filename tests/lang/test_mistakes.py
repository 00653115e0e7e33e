"""The tables of common mistakes name what exists: a row with a wrong name would never be seen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

import pytest

from thence.lang import mistakes as shared
from thence.lang.ep_sparql import mistakes as ep_sparql
from thence.lang.ep_sparql.parser import SYNTAX as EP_SPARQL
from thence.lang.mistakes import Mistake, Mistakes, ParseFailure
from thence.lang.rsep_ql import mistakes as rsep_ql
from thence.lang.rsep_ql.parser import SYNTAX as RSEP_QL
from thence.lang.sase import mistakes as sase
from thence.lang.sase.parser import SYNTAX as SASE
from thence.lang.sparql.parser import SYNTAX as SPARQL
from thence.lang.spaseq import parser as spaseq
from thence.lang.spaseq.parser import SYNTAX as SPASEQ
from thence.lang.syntax import Syntax
from thence.lang.tef_sparql import mistakes as tef_sparql
from thence.lang.tef_sparql.parser import SYNTAX as TEF_SPARQL
from thence.lang.text import name

LANGUAGES = {
    "spaseq": (spaseq.MISTAKES, SPASEQ),
    "sase": (sase.MISTAKES, SASE),
    "ep-sparql": (ep_sparql.MISTAKES, EP_SPARQL),
    "rsep-ql": ((*rsep_ql.MISTAKES, *rsep_ql.IN_BRACKETS, *rsep_ql.BETWEEN_EVENTS), RSEP_QL),
    "tef-sparql": (tef_sparql.MISTAKES, TEF_SPARQL),
}
SHARED = {id(each) for each in (*shared.MISTAKES, shared.DURATION, shared.UNIT)}
FIELD = re.compile(r"\{(\w+)\}")


def rows(mistakes: Mistakes) -> list[Mistake]:
    return [mistake for mistake in mistakes if isinstance(mistake, Mistake)]


def unknown(row: Mistake, syntaxes: Iterable[Syntax]) -> set[str]:
    """The terminals that a row names and no grammar has; a set may name those of several languages."""
    known = {name(terminal) for syntax in syntaxes for terminal in syntax._words.terminals}
    fields = (row.kind, row.after, row.accepts, row.accepts_any, row.accepts_only, row.rejects)
    written = {each for field in fields if isinstance(field, str) for each in field.split()}
    sets = [{*field} for field in fields if not isinstance(field, str) and field]
    return written - known | {*chain.from_iterable(each for each in sets if not each & known)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_row_names_terminals_of_its_grammar(language: str) -> None:
    mistakes, syntax = LANGUAGES[language]
    for row in rows(mistakes):
        assert id(row) in SHARED or not unknown(row, [syntax]), row.says


def test_a_shared_row_names_terminals_of_some_grammar() -> None:
    syntaxes = [SPARQL, *(syntax for _, syntax in LANGUAGES.values())]
    for row in rows(shared.MISTAKES):
        assert not unknown(row, syntaxes), row.says


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_row_says_names_properties_of_a_failure_or_groups_of_its_expression(language: str) -> None:
    for row in rows((*LANGUAGES[language][0], *shared.MISTAKES)):
        groups = {group for pattern in (row.behind, row.ahead) if pattern is not None for group in pattern.groupindex}
        for field in FIELD.findall(row.says):
            assert field.lower() in groups or hasattr(ParseFailure, field.lower()), row.says
        assert row.at in ("", "last", *groups), row.says
