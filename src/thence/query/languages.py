"""The five languages, and which of them a text is in."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import PurePath

from thence.errors import InputError
from thence.lang.names import closest, listed


class Language(Enum):
    """A language, by the name that options take."""

    SPASEQ = "spaseq"
    EP_SPARQL = "ep-sparql"
    SASE = "sase+"
    RSEP_QL = "rsep-ql"
    TEF_SPARQL = "tef-sparql"

    @property
    def title(self) -> str:
        """As its paper writes it."""
        return _TITLES[self]


_TITLES = {
    Language.SPASEQ: "SPAseQ",
    Language.EP_SPARQL: "EP-SPARQL",
    Language.SASE: "SASE+",
    Language.RSEP_QL: "RSEP-QL",
    Language.TEF_SPARQL: "TEF-SPARQL",
}
_ENDINGS = {
    ".spaseq": Language.SPASEQ,
    ".epsparql": Language.EP_SPARQL,
    ".sase": Language.SASE,
    ".rsepql": Language.RSEP_QL,
    ".tefsparql": Language.TEF_SPARQL,
}

# What is no keyword, whatever it looks like: IRIs, strings, comments, variables, names with a prefix. A string need not
# end, so that nothing is looked at twice.
_CHUNK = re.compile(r"""<[^<>"{}|^`\\\s]*>|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|\#[^\n]*|[\w:?$]+""")
_KEYWORDS = (
    (Language.SPASEQ, re.compile(r"\bGPM\b", re.IGNORECASE)),
    (Language.SASE, re.compile(r"\bPATTERN\b", re.IGNORECASE)),
    (Language.SPASEQ, re.compile(r"\bSEQ\s*\(", re.IGNORECASE)),
    (Language.RSEP_QL, re.compile(r"\bWIN\b|\bWINDOW\b|\bEVENT\s+ON\b", re.IGNORECASE)),
    (
        Language.TEF_SPARQL,
        re.compile(r"\b(?:FACT|SINCE|REPLACE(?!\s*\()|DURING|ONCE\s+PER|ONSTART|ONEND)\b", re.IGNORECASE),
    ),
)


def language_named(name: str) -> Language:
    """The language of that name.

    >>> language_named("SPAseQ")
    <Language.SPASEQ: 'spaseq'>
    """
    known = {language.value: language for language in Language}
    found = known.get(name.casefold())
    if found is None:
        cure = closest(name, known) or listed(known)
        raise InputError(f'There is no language "{name}". Try: {cure}')
    return found


def recognised(text: str, path: PurePath | None = None) -> Language:
    """The language of a query: by the ending of its file, else by its keywords; without any, EP-SPARQL.

    >>> recognised("SELECT * FROM STREAM S <x:s> { SEQ (A ; B) DEFINE GPM A ON S { ?a <x:p> 1 } }")
    <Language.SPASEQ: 'spaseq'>
    >>> recognised("PATTERN SEQ(Stock a, Stock b) WITHIN 10")
    <Language.SASE: 'sase+'>
    """
    if path is not None and path.suffix.lower() in _ENDINGS:
        return _ENDINGS[path.suffix.lower()]
    words = _CHUNK.sub(_word, text)
    return next((language for language, keywords in _KEYWORDS if keywords.search(words)), Language.EP_SPARQL)


def _word(found: re.Match[str]) -> str:
    return found[0] if re.fullmatch(r"\w+", found[0]) else " "
