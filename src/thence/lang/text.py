"""A query's text, where in it a thing is, and terminals as error messages name them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from lark.lexer import PatternStr, TerminalDef

from thence.errors import Place, QueryError

# A query's text: its codepoint escapes (SPARQL 1.1, 19.2), and where in it a thing is.

LENGTH = 1024 * 1024
"""The most characters a query may have."""

# A pair of backslashes is one escaped backslash, so in "\\u0041" there is no codepoint escape.
_ESCAPE = re.compile(r"\\(?:\\|u(?P<short>[0-9A-Fa-f]{4})|U(?P<long>[0-9A-Fa-f]{8}))")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BREAK = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, slots=True)
class Text:
    """The text for the parser (`read`, escapes resolved) and as the user wrote it (`written`)."""

    read: str
    written: str
    source: str
    _moved: tuple[tuple[int, int], ...]  # from this offset in `read` on, `written` is so much ahead

    def error(self, reason: str, offset: int, *, hint: str = "") -> QueryError:
        """An error at an offset of `read`."""
        at = self._offset(offset)
        breaks = [0, *(found.end() for found in _BREAK.finditer(self.written, 0, at))]
        end = _BREAK.search(self.written, at)
        line = self.written[breaks[-1] : end.start() if end else None]
        place = Place(len(breaks), at - breaks[-1] + 1, self.source)
        return QueryError(reason, place=place, line=_SURROGATE.sub("\ufffd", line), hint=hint)

    def place(self, offset: int) -> Place:
        """The line and column of an offset of `read`."""
        place = self.error("", offset).place
        assert place is not None
        return place

    def _offset(self, offset: int) -> int:
        found = bisect_right(self._moved, (offset, len(self.written))) - 1
        return offset + self._moved[found][1] if found >= 0 else offset


def text(written: str, source: str) -> Text:
    r"""A query's text, ready to be parsed.

    >>> text(r'SELECT ?caf\u00e9 { ?s ?p "\\u00e9" }', "query").read
    'SELECT ?café { ?s ?p "\\\\u00e9" }'
    """
    if len(written) > LENGTH:
        raise QueryError(f"{source} has {len(written):,} characters; a query may have {LENGTH:,}.")
    pieces: list[str] = []
    moved: list[tuple[int, int]] = []
    done = length = 0
    if written.startswith("\ufeff"):  # some editors put a byte order mark first
        done, moved = 1, [(0, 1)]
    for found in _ESCAPE.finditer(written, done):
        digits = found["short"] or found["long"]
        if digits is None:
            continue
        character = _character(int(digits, 16), Text(written, written, source, ()), found.start())
        pieces += [written[done : found.start()], character]
        length += found.start() - done + 1
        done = found.end()
        moved.append((length, done - length))
    whole = Text("".join((*pieces, written[done:])), written, source, tuple(moved))
    if bad := _SURROGATE.search(whole.read):
        raise whole.error("Half a surrogate pair is not a character.", bad.start())
    return whole


def _character(number: int, written: Text, offset: int) -> str:
    if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        raise written.error(f"U+{number:04X} is not a character.", offset)
    return chr(number)


END = "$END"

_MANGLED = re.compile(r"(_?)(?:[a-z0-9_]+?__)?(.+)")


def name(mangled: str) -> str:
    """A rule's or terminal's own name, which a grammar that imports it may have changed.

    >>> name("sparql__var"), name("_sparql__SELECT"), name("var")
    ('var', '_SELECT', 'var')
    """
    found = _MANGLED.fullmatch(mangled)
    return found[1] + found[2] if found else mangled


NAMES = frozenset({"NAME"})
"""The names of a language's own tokens: plain words, as which a misspelt keyword is read."""

IRIS = frozenset({"IRIREF", "PNAME_LN", "PNAME_NS"})
VARIABLES = frozenset({"VAR1", "VAR2"})
STRINGS = frozenset({"STRING_LITERAL1", "STRING_LITERAL2", "STRING_LITERAL_LONG1", "STRING_LITERAL_LONG2"})
SIGNED = frozenset(f"{kind}_{sign}" for kind in ("INTEGER", "DECIMAL", "DOUBLE") for sign in ("POSITIVE", "NEGATIVE"))
LITERALS = STRINGS | SIGNED | {"INTEGER", "DECIMAL", "DOUBLE", "TRUE", "FALSE"}
TERMS = IRIS | VARIABLES | LITERALS | {"BLANK_NODE_LABEL", "LSQB"}
AGGREGATES = frozenset({"COUNT", "AGGREGATE", "GROUP_CONCAT", "ITERATION"})
STRING_FUNCTIONS = frozenset({"CONCAT", "SUBSTR", "REPLACE", "REGEX"})
FORMS_OF_THEIR_OWN = frozenset({"_BOUND", "_IF", "_COALESCE", "_EXISTS", "NOT", "BNODE"})
FUNCTIONS = AGGREGATES | STRING_FUNCTIONS | FORMS_OF_THEIR_OWN | {"FUNCTION_0", "FUNCTION_1", "FUNCTION_2"}
COMPARISONS = frozenset({"EQUAL", "NOT_EQUAL", "LESS", "GREATER", "LESS_OR_EQUAL", "GREATER_OR_EQUAL", "_IN", "NOT"})
OPERATORS = SIGNED | COMPARISONS | {"PLUS", "MINUS", "STAR", "SLASH", "LOGICAL_OR", "LOGICAL_AND"}
EXPRESSIONS = FUNCTIONS | IRIS | VARIABLES | LITERALS | {"LPAR", "BANG", "PLUS", "MINUS"}
FORMS = frozenset({"_SELECT", "_CONSTRUCT", "_ASK", "_DESCRIBE", "_BASE", "_PREFIX"})
ELEMENTS = frozenset(
    {"_OPTIONAL", "_FILTER", "_BIND", "_GRAPH", "_MINUS", "_VALUES", "SERVICE", "LBRACE", "_SELECT", "UNION"}
)
PATTERNS = frozenset(
    {"ONSTART", "ONEND", "WITHOUT", "_SINCE", "_UNTIL", "_REPLACE", "_BIND", "_FILTER", "LPAR", "LBRACE"}
)
"""The first tokens of a pattern of TEF-SPARQL, apart from terms."""

AFTER_PATTERNS = frozenset(
    {"RELATION", "WITHOUT", "_UNION", "_BIND", "_FILTER", "_ON", "_ON_INIT", "DOT", "SEMICOLON", "LSQB"}
)
MODIFIERS = frozenset({"_GROUP", "_HAVING", "_ORDER", "_LIMIT", "_OFFSET", "_VALUES"})

# Where all of the first set can be, the phrase speaks for all of the second.
_PHRASES: tuple[tuple[set[str], str, frozenset[str]], ...] = (
    ({"_SELECT", "_ASK", "_DESCRIBE"}, "SELECT, CONSTRUCT, ASK or DESCRIBE", FORMS),
    ({"_SELECT", "_ASK", "_REGISTER"}, "SELECT, CONSTRUCT, ASK or REGISTER", FORMS | {"_REGISTER"}),
    ({"_SELECT", "_CONSTRUCT", "_DECLARE"}, "SELECT, CONSTRUCT or DECLARE", FORMS | {"_DECLARE"}),
    ({"_SELECT", "_ASK"}, "SELECT, CONSTRUCT or ASK", FORMS),
    ({"_SELECT", "_CONSTRUCT"}, "SELECT or CONSTRUCT", FORMS),
    ({"FUNCTION_1", "BANG"}, "an expression", EXPRESSIONS | NAMES),
    ({"ONSTART", "BANG"}, "a pattern or an expression", PATTERNS | EXPRESSIONS | NAMES | {"SHORT_DURATION"}),
    ({"ONSTART"}, "a pattern", PATTERNS | IRIS | VARIABLES | NAMES),
    ({"BANG", "MINUS"}, "an expression", EXPRESSIONS | NAMES | {"SHORT_DURATION"}),
    ({"INFINITY"}, "a time", VARIABLES | STRINGS | {"INTEGER", "MINUS", "INFINITY"}),
    ({"RELATION"}, "an operator such as DURING", AFTER_PATTERNS),
    ({"FUNCTION_1"}, "an expression in parentheses", FUNCTIONS | IRIS | NAMES | {"LPAR"}),
    ({"BLANK_NODE_LABEL", "RBRACE"}, "a triple pattern", TERMS | NAMES | {"LPAR"}),
    ({"BLANK_NODE_LABEL"}, "a term", TERMS | NAMES | {"LPAR"}),
    ({"A"}, "a property", IRIS | VARIABLES | NAMES | {"A", "BANG", "CIRCUMFLEX", "LPAR"}),
    ({"IRIREF", "INTEGER", "SHORT_DURATION"}, "a value", IRIS | LITERALS | NAMES | {"PLUS", "MINUS", "SHORT_DURATION"}),
    ({"IRIREF", "INTEGER"}, "a value", IRIS | LITERALS | NAMES),
    ({"LOGICAL_AND"}, "an operator", OPERATORS),
    ({"STRING_LITERAL1"}, "a string", STRINGS),
    ({"IRIREF"}, "an IRI", IRIS | NAMES),
    ({"PNAME_NS"}, "a prefix", IRIS),
    ({"VAR1"}, "a variable", VARIABLES),
    ({"NAME"}, "a name", NAMES),
    ({"INTEGER"}, "a number", frozenset({"INTEGER"})),
    ({"LANGTAG"}, "a language tag", frozenset({"LANGTAG", "DATATYPE_MARK"})),
    ({"_OPTIONAL", "_FILTER"}, "", ELEMENTS),  # nearly always possible, and nearly never what was meant
    ({"_LIMIT", "_OFFSET"}, "a clause such as LIMIT", MODIFIERS),
    ({END}, "the end", frozenset({END})),
)
_SHOWN = 5
_WORD = re.compile(r"[A-Z][A-Z_0-9]+(?: [A-Z]+)?")  # IN STREAM is one keyword


@dataclass(frozen=True, slots=True)
class Words:
    """A grammar's terminals, and how keywords and signs are written; what is written in many ways has no spelling."""

    terminals: frozenset[str]
    spellings: Mapping[str, tuple[str, ...]]

    def expected(self, accepted: Iterable[str]) -> str:
        """The things that could follow: kinds of things, then signs, then keywords, and only the first few of many.

        >>> Words(frozenset(), {"DOT": (".",), "_WHERE": ("WHERE",)}).expected({"VAR1", "VAR2", "DOT", "_WHERE"})
        'a variable, "." or WHERE'
        """
        left = set(accepted)
        phrases: list[str] = []
        for needed, phrase, covered in _PHRASES:
            if needed <= left:
                phrases += [phrase] if phrase else []
                left -= covered
        fixed = [self.spellings[terminal][0] for terminal in left if len(self.spellings.get(terminal, ())) == 1]
        signs = sorted(f'"{sign}"' for sign in fixed if not sign[0].isalpha())
        keywords = sorted(word for word in fixed if word[0].isalpha())
        return _listed([*phrases, *signs, *keywords][:_SHOWN])

    def only(self, accepted: Iterable[str]) -> str:
        """The one thing that could be there, if there is but one and it is always written the same."""
        found = list(accepted)
        spelled = self.spellings.get(found[0], ()) if len(found) == 1 else ()
        return spelled[0] if len(spelled) == 1 else ""

    def keywords(self, accepted: Iterable[str]) -> list[str]:
        """All words that could be there, the names of functions among them."""
        spelled = (word for terminal in accepted for word in self.spellings.get(terminal, ()))
        return sorted(word for word in spelled if word[0].isalpha())


def words_of(terminals: Collection[TerminalDef]) -> Words:
    """The words of a grammar: a keyword's pattern is the keyword, or a choice of several."""
    spellings = {"LESS": ("<",), "GREATER": (">",), "LESS_OR_EQUAL": ("<=",), "A": ("a",)}
    for terminal in terminals:
        pattern = terminal.pattern
        if isinstance(pattern, PatternStr):
            spellings[name(terminal.name)] = (pattern.value,)
        elif pattern.value.endswith(r"\b") and (found := _WORD.findall(pattern.value.replace(r"\s+", " "))):
            spellings[name(terminal.name)] = tuple(found)
    return Words(frozenset({END, *(terminal.name for terminal in terminals)}), spellings)


def _listed(items: list[str]) -> str:
    if not items:
        return "something else"
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} or {items[-1]}"
