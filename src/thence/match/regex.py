"""REGEX and REPLACE: XPath's regular expressions (F&O, 7.6), run by RE2 in time linear in the text."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, TypeAlias

import re2

from thence.match.context import ExpressionError, check_length

# Unicode's blocks (version 14), as `\p{IsGreek}` names them in a regular expression (XSD 1.1, part 2, G.4.2.3).

_TABLE = """
0000-007F:BasicLatin 0080-00FF:Latin-1Supplement 0100-017F:LatinExtended-A 0180-024F:LatinExtended-B
0250-02AF:IPAExtensions 02B0-02FF:SpacingModifierLetters 0300-036F:CombiningDiacriticalMarks
0370-03FF:GreekandCoptic 0400-04FF:Cyrillic 0500-052F:CyrillicSupplement 0530-058F:Armenian 0590-05FF:Hebrew
0600-06FF:Arabic 0700-074F:Syriac 0750-077F:ArabicSupplement 0780-07BF:Thaana 07C0-07FF:NKo 0800-083F:Samaritan
0840-085F:Mandaic 0860-086F:SyriacSupplement 0870-089F:ArabicExtended-B 08A0-08FF:ArabicExtended-A
0900-097F:Devanagari 0980-09FF:Bengali 0A00-0A7F:Gurmukhi 0A80-0AFF:Gujarati 0B00-0B7F:Oriya 0B80-0BFF:Tamil
0C00-0C7F:Telugu 0C80-0CFF:Kannada 0D00-0D7F:Malayalam 0D80-0DFF:Sinhala 0E00-0E7F:Thai 0E80-0EFF:Lao
0F00-0FFF:Tibetan 1000-109F:Myanmar 10A0-10FF:Georgian 1100-11FF:HangulJamo 1200-137F:Ethiopic
1380-139F:EthiopicSupplement 13A0-13FF:Cherokee 1400-167F:UnifiedCanadianAboriginalSyllabics 1680-169F:Ogham
16A0-16FF:Runic 1700-171F:Tagalog 1720-173F:Hanunoo 1740-175F:Buhid 1760-177F:Tagbanwa 1780-17FF:Khmer
1800-18AF:Mongolian 18B0-18FF:UnifiedCanadianAboriginalSyllabicsExtended 1900-194F:Limbu 1950-197F:TaiLe
1980-19DF:NewTaiLue 19E0-19FF:KhmerSymbols 1A00-1A1F:Buginese 1A20-1AAF:TaiTham
1AB0-1AFF:CombiningDiacriticalMarksExtended 1B00-1B7F:Balinese 1B80-1BBF:Sundanese 1BC0-1BFF:Batak 1C00-1C4F:Lepcha
1C50-1C7F:OlChiki 1C80-1C8F:CyrillicExtended-C 1C90-1CBF:GeorgianExtended 1CC0-1CCF:SundaneseSupplement
1CD0-1CFF:VedicExtensions 1D00-1D7F:PhoneticExtensions 1D80-1DBF:PhoneticExtensionsSupplement
1DC0-1DFF:CombiningDiacriticalMarksSupplement 1E00-1EFF:LatinExtendedAdditional 1F00-1FFF:GreekExtended
2000-206F:GeneralPunctuation 2070-209F:SuperscriptsandSubscripts 20A0-20CF:CurrencySymbols
20D0-20FF:CombiningDiacriticalMarksforSymbols 2100-214F:LetterlikeSymbols 2150-218F:NumberForms 2190-21FF:Arrows
2200-22FF:MathematicalOperators 2300-23FF:MiscellaneousTechnical 2400-243F:ControlPictures
2440-245F:OpticalCharacterRecognition 2460-24FF:EnclosedAlphanumerics 2500-257F:BoxDrawing 2580-259F:BlockElements
25A0-25FF:GeometricShapes 2600-26FF:MiscellaneousSymbols 2700-27BF:Dingbats
27C0-27EF:MiscellaneousMathematicalSymbols-A 27F0-27FF:SupplementalArrows-A 2800-28FF:BraillePatterns
2900-297F:SupplementalArrows-B 2980-29FF:MiscellaneousMathematicalSymbols-B
2A00-2AFF:SupplementalMathematicalOperators 2B00-2BFF:MiscellaneousSymbolsandArrows 2C00-2C5F:Glagolitic
2C60-2C7F:LatinExtended-C 2C80-2CFF:Coptic 2D00-2D2F:GeorgianSupplement 2D30-2D7F:Tifinagh
2D80-2DDF:EthiopicExtended 2DE0-2DFF:CyrillicExtended-A 2E00-2E7F:SupplementalPunctuation
2E80-2EFF:CJKRadicalsSupplement 2F00-2FDF:KangxiRadicals 2FF0-2FFF:IdeographicDescriptionCharacters
3000-303F:CJKSymbolsandPunctuation 3040-309F:Hiragana 30A0-30FF:Katakana 3100-312F:Bopomofo
3130-318F:HangulCompatibilityJamo 3190-319F:Kanbun 31A0-31BF:BopomofoExtended 31C0-31EF:CJKStrokes
31F0-31FF:KatakanaPhoneticExtensions 3200-32FF:EnclosedCJKLettersandMonths 3300-33FF:CJKCompatibility
3400-4DBF:CJKUnifiedIdeographsExtensionA 4DC0-4DFF:YijingHexagramSymbols 4E00-9FFF:CJKUnifiedIdeographs
A000-A48F:YiSyllables A490-A4CF:YiRadicals A4D0-A4FF:Lisu A500-A63F:Vai A640-A69F:CyrillicExtended-B A6A0-A6FF:Bamum
A700-A71F:ModifierToneLetters A720-A7FF:LatinExtended-D A800-A82F:SylotiNagri A830-A83F:CommonIndicNumberForms
A840-A87F:Phags-pa A880-A8DF:Saurashtra A8E0-A8FF:DevanagariExtended A900-A92F:KayahLi A930-A95F:Rejang
A960-A97F:HangulJamoExtended-A A980-A9DF:Javanese A9E0-A9FF:MyanmarExtended-B AA00-AA5F:Cham
AA60-AA7F:MyanmarExtended-A AA80-AADF:TaiViet AAE0-AAFF:MeeteiMayekExtensions AB00-AB2F:EthiopicExtended-A
AB30-AB6F:LatinExtended-E AB70-ABBF:CherokeeSupplement ABC0-ABFF:MeeteiMayek AC00-D7AF:HangulSyllables
D7B0-D7FF:HangulJamoExtended-B D800-DB7F:HighSurrogates DB80-DBFF:HighPrivateUseSurrogates DC00-DFFF:LowSurrogates
E000-F8FF:PrivateUseArea F900-FAFF:CJKCompatibilityIdeographs FB00-FB4F:AlphabeticPresentationForms
FB50-FDFF:ArabicPresentationForms-A FE00-FE0F:VariationSelectors FE10-FE1F:VerticalForms
FE20-FE2F:CombiningHalfMarks FE30-FE4F:CJKCompatibilityForms FE50-FE6F:SmallFormVariants
FE70-FEFF:ArabicPresentationForms-B FF00-FFEF:HalfwidthandFullwidthForms FFF0-FFFF:Specials
10000-1007F:LinearBSyllabary 10080-100FF:LinearBIdeograms 10100-1013F:AegeanNumbers 10140-1018F:AncientGreekNumbers
10190-101CF:AncientSymbols 101D0-101FF:PhaistosDisc 10280-1029F:Lycian 102A0-102DF:Carian
102E0-102FF:CopticEpactNumbers 10300-1032F:OldItalic 10330-1034F:Gothic 10350-1037F:OldPermic 10380-1039F:Ugaritic
103A0-103DF:OldPersian 10400-1044F:Deseret 10450-1047F:Shavian 10480-104AF:Osmanya 104B0-104FF:Osage
10500-1052F:Elbasan 10530-1056F:CaucasianAlbanian 10570-105BF:Vithkuqi 10600-1077F:LinearA
10780-107BF:LatinExtended-F 10800-1083F:CypriotSyllabary 10840-1085F:ImperialAramaic 10860-1087F:Palmyrene
10880-108AF:Nabataean 108E0-108FF:Hatran 10900-1091F:Phoenician 10920-1093F:Lydian 10980-1099F:MeroiticHieroglyphs
109A0-109FF:MeroiticCursive 10A00-10A5F:Kharoshthi 10A60-10A7F:OldSouthArabian 10A80-10A9F:OldNorthArabian
10AC0-10AFF:Manichaean 10B00-10B3F:Avestan 10B40-10B5F:InscriptionalParthian 10B60-10B7F:InscriptionalPahlavi
10B80-10BAF:PsalterPahlavi 10C00-10C4F:OldTurkic 10C80-10CFF:OldHungarian 10D00-10D3F:HanifiRohingya
10E60-10E7F:RumiNumeralSymbols 10E80-10EBF:Yezidi 10F00-10F2F:OldSogdian 10F30-10F6F:Sogdian 10F70-10FAF:OldUyghur
10FB0-10FDF:Chorasmian 10FE0-10FFF:Elymaic 11000-1107F:Brahmi 11080-110CF:Kaithi 110D0-110FF:SoraSompeng
11100-1114F:Chakma 11150-1117F:Mahajani 11180-111DF:Sharada 111E0-111FF:SinhalaArchaicNumbers 11200-1124F:Khojki
11280-112AF:Multani 112B0-112FF:Khudawadi 11300-1137F:Grantha 11400-1147F:Newa 11480-114DF:Tirhuta
11580-115FF:Siddham 11600-1165F:Modi 11660-1167F:MongolianSupplement 11680-116CF:Takri 11700-1174F:Ahom
11800-1184F:Dogra 118A0-118FF:WarangCiti 11900-1195F:DivesAkuru 119A0-119FF:Nandinagari 11A00-11A4F:ZanabazarSquare
11A50-11AAF:Soyombo 11AB0-11ABF:UnifiedCanadianAboriginalSyllabicsExtended-A 11AC0-11AFF:PauCinHau
11C00-11C6F:Bhaiksuki 11C70-11CBF:Marchen 11D00-11D5F:MasaramGondi 11D60-11DAF:GunjalaGondi 11EE0-11EFF:Makasar
11FB0-11FBF:LisuSupplement 11FC0-11FFF:TamilSupplement 12000-123FF:Cuneiform
12400-1247F:CuneiformNumbersandPunctuation 12480-1254F:EarlyDynasticCuneiform 12F90-12FFF:Cypro-Minoan
13000-1342F:EgyptianHieroglyphs 13430-1343F:EgyptianHieroglyphFormatControls 14400-1467F:AnatolianHieroglyphs
16800-16A3F:BamumSupplement 16A40-16A6F:Mro 16A70-16ACF:Tangsa 16AD0-16AFF:BassaVah 16B00-16B8F:PahawhHmong
16E40-16E9F:Medefaidrin 16F00-16F9F:Miao 16FE0-16FFF:IdeographicSymbolsandPunctuation 17000-187FF:Tangut
18800-18AFF:TangutComponents 18B00-18CFF:KhitanSmallScript 18D00-18D7F:TangutSupplement 1AFF0-1AFFF:KanaExtended-B
1B000-1B0FF:KanaSupplement 1B100-1B12F:KanaExtended-A 1B130-1B16F:SmallKanaExtension 1B170-1B2FF:Nushu
1BC00-1BC9F:Duployan 1BCA0-1BCAF:ShorthandFormatControls 1CF00-1CFCF:ZnamennyMusicalNotation
1D000-1D0FF:ByzantineMusicalSymbols 1D100-1D1FF:MusicalSymbols 1D200-1D24F:AncientGreekMusicalNotation
1D2E0-1D2FF:MayanNumerals 1D300-1D35F:TaiXuanJingSymbols 1D360-1D37F:CountingRodNumerals
1D400-1D7FF:MathematicalAlphanumericSymbols 1D800-1DAAF:SuttonSignWriting 1DF00-1DFFF:LatinExtended-G
1E000-1E02F:GlagoliticSupplement 1E100-1E14F:NyiakengPuachueHmong 1E290-1E2BF:Toto 1E2C0-1E2FF:Wancho
1E7E0-1E7FF:EthiopicExtended-B 1E800-1E8DF:MendeKikakui 1E900-1E95F:Adlam 1EC70-1ECBF:IndicSiyaqNumbers
1ED00-1ED4F:OttomanSiyaqNumbers 1EE00-1EEFF:ArabicMathematicalAlphabeticSymbols 1F000-1F02F:MahjongTiles
1F030-1F09F:DominoTiles 1F0A0-1F0FF:PlayingCards 1F100-1F1FF:EnclosedAlphanumericSupplement
1F200-1F2FF:EnclosedIdeographicSupplement 1F300-1F5FF:MiscellaneousSymbolsandPictographs 1F600-1F64F:Emoticons
1F650-1F67F:OrnamentalDingbats 1F680-1F6FF:TransportandMapSymbols 1F700-1F77F:AlchemicalSymbols
1F780-1F7FF:GeometricShapesExtended 1F800-1F8FF:SupplementalArrows-C 1F900-1F9FF:SupplementalSymbolsandPictographs
1FA00-1FA6F:ChessSymbols 1FA70-1FAFF:SymbolsandPictographsExtended-A 1FB00-1FBFF:SymbolsforLegacyComputing
20000-2A6DF:CJKUnifiedIdeographsExtensionB 2A700-2B73F:CJKUnifiedIdeographsExtensionC
2B740-2B81F:CJKUnifiedIdeographsExtensionD 2B820-2CEAF:CJKUnifiedIdeographsExtensionE
2CEB0-2EBEF:CJKUnifiedIdeographsExtensionF 2F800-2FA1F:CJKCompatibilityIdeographsSupplement
30000-3134F:CJKUnifiedIdeographsExtensionG E0000-E007F:Tags E0100-E01EF:VariationSelectorsSupplement
F0000-FFFFF:SupplementaryPrivateUseArea-A 100000-10FFFF:SupplementaryPrivateUseArea-B
"""

# names that XML Schema 1.0 knew, and Unicode has changed since
_FORMER = {
    "Greek": "GreekandCoptic",
    "CombiningMarksforSymbols": "CombiningDiacriticalMarksforSymbols",
    "PrivateUse": "PrivateUseArea",
}


def _read() -> dict[str, tuple[int, int]]:
    blocks = {}
    for entry in _TABLE.split():
        span, name = entry.split(":")
        first, last = span.split("-")
        blocks[name] = int(first, 16), int(last, 16)
    return blocks | {former: blocks[name] for former, name in _FORMER.items()}


BLOCKS: dict[str, tuple[int, int]] = _read()
"""First and last code point by name, the name without its spaces."""


# Sets of characters in XPath's regular expressions: `[a-z-[aeiou]]`, `\w`, `\p{Lu}` (XSD 1.1, part 2, G.4), for RE2.
#
# RE2 has no subtraction, and folds the case of categories where XPath does not. A set it can say is said in its
# words;
# any other is computed, code point by code point, and listed.

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Code points as first and last, in order and apart."""

_LAST = sys.maxunicode
_GROUPS = {
    "L": "u l t m o",
    "M": "n c e",
    "N": "d l o",
    "P": "c d s e i f o",
    "Z": "s l p",
    "S": "m c k o",
    "C": "c f o n",
}
CATEGORIES = {*_GROUPS, *(group + kind for group, kinds in _GROUPS.items() for kind in kinds.split())}

_SPACE: Ranges = ((0x9, 0xA), (0xD, 0xD), (0x20, 0x20))
_NAME_START: Ranges = (  # XML 1.0, fifth edition: NameStartChar
    (0x3A, 0x3A), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2FF), (0x370, 0x37D),
    (0x37F, 0x1FFF), (0x200C, 0x200D), (0x2070, 0x218F), (0x2C00, 0x2FEF), (0x3001, 0xD7FF), (0xF900, 0xFDCF),
    (0xFDF0, 0xFFFD), (0x10000, 0xEFFFF),
)  # fmt: skip
_NAME_MORE: Ranges = ((0x2D, 0x2E), (0x30, 0x39), (0xB7, 0xB7), (0x300, 0x36F), (0x203F, 0x2040))


@dataclass(frozen=True, slots=True)
class Escape:
    """`\\d`, `\\S`, `\\p{Lu}`, `\\P{IsGreek}`: a set by name, or all the rest."""

    name: str  # s, i, c, d, w, a category, or Is and a block
    negated: bool = False

    def __post_init__(self) -> None:
        block = self.name[2:] if self.name.startswith("Is") else None
        if self.name not in CATEGORIES and self.name not in set("sicdw") and block not in BLOCKS:
            raise ExpressionError(f"no set of characters has the name {self.name!r:.60}")

    def ranges(self) -> Ranges:
        found = _named(self.name)
        return complement(found) if self.negated else found

    def re2(self) -> str | None:
        """In RE2's words for a set inside brackets, if it has some."""
        if self.name in CATEGORIES:
            # RE2 leaves unassigned code points out of C
            return None if self.name in ("C", "Cn") else rf"\{'P' if self.negated else 'p'}{{{self.name}}}"
        if self.name in ("d", "w"):
            return None if self.negated else _RE2_NAMES[self.name]
        return listed(self.ranges())


_RE2_NAMES = {"d": r"\p{Nd}", "w": r"\p{L}\p{M}\p{N}\p{S}"}  # w: neither punctuation, separator nor other


@dataclass(frozen=True, slots=True)
class CharacterClass:
    """`[…]`: ranges and named sets, perhaps negated, without those of another class."""

    spans: tuple[tuple[int, int], ...] = ()
    escapes: tuple[Escape, ...] = ()
    negated: bool = False
    without: CharacterClass | None = field(default=None)

    def re2(self, *, ignore_case: bool) -> str:
        """The class in RE2's syntax."""
        if len(self.escapes) == 1 and self.escapes[0].negated and not self.spans and self.without is None:
            positive = (Escape(self.escapes[0].name),)
            return CharacterClass(escapes=positive, negated=not self.negated).re2(ignore_case=ignore_case)
        named = [escape.re2() for escape in self.escapes]
        if self.without is None and None not in named and not (ignore_case and named):
            inner = listed(_united(self.spans)) + "".join(name for name in named if name)
            return f"[{'^' * self.negated}{inner}]"
        ranges = self.ranges(ignore_case=ignore_case)
        # an empty set matches nothing, which RE2 writes as the complement of everything
        inner = f"[{listed(ranges)}]" if ranges else r"[^\x{0}-\x{10FFFF}]"
        return f"(?-i:{inner})" if ignore_case else inner

    def ranges(self, *, ignore_case: bool) -> Ranges:
        """Every code point of the class. The case of a named set is never ignored (F&O, 7.6.1.1)."""
        spans = _case_variants(_united(self.spans)) if ignore_case else self.spans
        found = _united((*spans, *(span for escape in self.escapes for span in escape.ranges())))
        if self.negated:
            found = complement(found)
        return _subtracted(found, self.without.ranges(ignore_case=ignore_case)) if self.without else found


def listed(ranges: Ranges) -> str:
    """Ranges as they are inside brackets."""
    return "".join(rf"\x{{{a:X}}}" if a == b else rf"\x{{{a:X}}}-\x{{{b:X}}}" for a, b in ranges)


def complement(ranges: Ranges) -> Ranges:
    """All other code points."""
    found, start = [], 0
    for first, last in ranges:
        if start < first:
            found.append((start, first - 1))
        start = last + 1
    return (*found, (start, _LAST)) if start <= _LAST else tuple(found)


def _united(spans: Iterable[tuple[int, int]]) -> Ranges:
    found: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return tuple(found)


def _subtracted(ranges: Ranges, without: Ranges) -> Ranges:
    return complement(_united((*complement(ranges), *without)))


@cache
def _named(name: str) -> Ranges:
    match name:
        case "s":
            return _SPACE
        case "i":
            return _NAME_START
        case "c":
            return _united((*_NAME_START, *_NAME_MORE))
        case "d":
            return _by_category()["Nd"]
        case "w":
            return complement(_united((*_named("P"), *_named("Z"), *_named("C"))))
        case _ if name in CATEGORIES:
            return _united(span for key, spans in _by_category().items() if key.startswith(name) for span in spans)
        case _:
            return (BLOCKS[name.removeprefix("Is")],)


@cache
def _by_category() -> dict[str, Ranges]:
    """The code points of each general category: asked of Python once, when first needed."""
    found: dict[str, list[tuple[int, int]]] = {}
    start, current = 0, unicodedata.category("\0")
    for point in range(1, _LAST + 2):
        category = unicodedata.category(chr(point)) if point <= _LAST else ""
        if category != current:
            found.setdefault(current, []).append((start, point - 1))
            start, current = point, category
    return {category: tuple(spans) for category, spans in found.items()}


@cache
def _variants() -> dict[int, tuple[int, ...]]:
    """The other cases of each character that has some."""
    found: dict[int, set[int]] = {}
    for point in range(_LAST + 1):
        character = chr(point)
        for other in (character.lower(), character.upper()):
            if len(other) == 1 and other != character:
                found.setdefault(point, set()).add(ord(other))
                found.setdefault(ord(other), set()).add(point)
    return {point: tuple(others) for point, others in found.items()}


def _case_variants(ranges: Ranges) -> Ranges:
    inside = (point for point in _variants() if any(a <= point <= b for a, b in ranges))
    return _united((*ranges, *((other, other) for point in inside for other in _variants()[point])))


# REGEX and REPLACE: XPath's regular expressions (F&O, 7.6), run by RE2 in time linear in the text.
#
# XPath's syntax is read here and written in RE2's. Back-references have no linear-time engine: they are an error. So is
# what would take too long even so: `MAX_WORK` bounds the pattern's size times the text's.

MAX_PATTERN = 10_000  # characters
MAX_DEPTH = 100  # groups or classes within each other
MAX_REPEAT = 1000  # RE2's own limit
MAX_MEMORY = 4 << 20  # bytes a pattern, of which some dozens are kept ready
MAX_WORK = 10_000_000_000
"""Instructions of the pattern times characters of the text: some seconds, if RE2 must try them all."""
MAX_LOOKING_AHEAD = 20_000_000_000
"""Characters that all matches of a REPLACE may read: text of 200,000 characters is always short enough."""

_SINGLE = {"n": "\n", "r": "\r", "t": "\t", **{c: c for c in "\\|.?*+(){}-[]^$"}}
_MULTI = "sSiIcCdDwW"
_RE2_SPECIAL = frozenset("\\.+*?()|[]{}^$")


@dataclass(frozen=True, slots=True)
class Translation:
    """A pattern in RE2's syntax, and how many groups it captures."""

    pattern: str
    groups: int


@dataclass(frozen=True, slots=True)
class Regex:
    """A pattern, ready to be used."""

    translation: Translation
    compiled: Any  # re2 has no types
    literal: bool  # flag q

    def matches(self, text: str) -> bool:
        """fn:matches: anywhere in the text."""
        self._limit(len(text))
        return self.compiled.search(_encoded(text)) is not None

    def replace(self, text: str, replacement: str) -> str:
        """fn:replace: every match, from left to right."""
        if self.compiled.search(b"") is not None:
            raise ExpressionError("the pattern of REPLACE matches the empty string")
        expand = self._template(replacement)
        pieces: list[bytes] = []
        data, end, ahead, made = _encoded(text), 0, 0, 0
        self._limit(len(data))
        for match in self.compiled.finditer(data):
            # each search may look ahead to the text's end before it settles for a match
            ahead += len(data) - match.start()
            if ahead > MAX_LOOKING_AHEAD:
                raise ExpressionError("the text is too long, with too many matches, for REPLACE")
            pieces += [data[end : match.start()], expand(match)]
            made += len(pieces[-2]) + len(pieces[-1])
            check_length(made)
            end = match.end()
        return b"".join((*pieces, data[end:])).decode("utf-8")

    def _limit(self, length: int) -> None:
        if self.compiled.programsize * length > MAX_WORK:
            raise ExpressionError("the text is too long for this regular expression")

    def _template(self, replacement: str) -> Callable[[Any], bytes]:
        parts = [replacement] if self.literal else _replacement_parts(replacement, self.translation.groups)
        ready = [part.encode("utf-8") if isinstance(part, str) else part for part in parts]
        return lambda match: b"".join(part if isinstance(part, bytes) else match.group(part) or b"" for part in ready)


@lru_cache(maxsize=64)
def regex(pattern: str, flags: str = "") -> Regex:
    """A pattern with its flags, read once. ExpressionError says what is wrong with it.

    >>> regex("^ab.*e$", "s").matches("abc\\nde"), regex("(a+)+$").matches("a" * 100_000 + "b")
    (True, False)
    """
    translation = translate(pattern, flags)
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_MEMORY
    try:
        compiled = re2.compile(_encoded(translation.pattern), options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error.args[0]
        raise ExpressionError(f"the regular expression can't be used: {reason}") from None
    return Regex(translation, compiled, "q" in flags)


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise ExpressionError("a string contains half of a surrogate pair") from None


@lru_cache(maxsize=64)
def translate(pattern: str, flags: str = "") -> Translation:
    """XPath's pattern in RE2's syntax, flags included, for any engine that is RE2.

    >>> translate("[a-z-[aeiou]]+", "i").pattern[:4]
    '(?i)'
    """
    if any(flag not in "smixq" for flag in flags):
        raise ExpressionError(f'the flags of a regular expression are s, m, i, x and q, not "{flags}"')
    if len(pattern) > MAX_PATTERN:
        raise ExpressionError(f"a regular expression has at most {MAX_PATTERN} characters")
    ignore_case = "i" in flags
    if "q" in flags:
        return Translation(f"{'(?i)' * ignore_case}{_quoted(pattern)}", 0)
    reader = _Translator(_without_space(pattern) if "x" in flags else pattern, ignore_case)
    body = reader.whole()
    modes = "".join(flag for flag in "ims" if flag in flags)
    return Translation(f"(?{modes}){body}" if modes else body, reader.groups)


def _quoted(text: str) -> str:
    return "".join("\\" + c if c in _RE2_SPECIAL else c for c in text)


def _without_space(pattern: str) -> str:
    """Flag x: white space goes, except in character classes."""
    kept, depth, position = [], 0, 0
    while position < len(pattern):
        character = pattern[position]
        width = 2 if character == "\\" else 1
        depth += (character == "[") - (character == "]" and depth > 0)
        if depth or character not in " \t\n\r":
            kept.append(pattern[position : position + width])
        position += width
    return "".join(kept)


def _replacement_parts(replacement: str, groups: int) -> list[str | int]:
    """Text and numbers of groups; `$12` is group 1 and a 2 where there are fewer than twelve."""
    parts: list[str | int] = []
    position = 0
    while position < len(replacement):
        character = replacement[position]
        following = replacement[position + 1 : position + 2]
        position += 1
        if character == "\\":
            if following not in ("\\", "$") or not following:
                raise ExpressionError("in a replacement, \\ is allowed only before \\ or $")
            parts.append(following)
            position += 1
        elif character == "$":
            if not following or following not in "0123456789":
                raise ExpressionError("in a replacement, $ is allowed only before a digit")
            number = int(following)
            position += 1
            while (
                position < len(replacement)
                and replacement[position] in "0123456789"
                and number * 10 + int(replacement[position]) <= groups
            ):
                number = number * 10 + int(replacement[position])
                position += 1
            parts.append(number if number <= groups else "")
        else:
            parts.append(character)
    return parts


class _Translator:
    """A recursive descent through XPath's grammar of regular expressions, writing RE2's as it goes."""

    def __init__(self, pattern: str, ignore_case: bool) -> None:
        self.pattern = pattern
        self.position = 0
        self.groups = 0
        self.depth = 0
        self.ignore_case = ignore_case

    def whole(self) -> str:
        found = self._alternatives()
        if self.position < len(self.pattern):
            raise self._error("a ) without its (")
        return found

    def _error(self, reason: str) -> ExpressionError:
        return ExpressionError(f"the regular expression {self.pattern!r:.60} has {reason} at {self.position + 1}")

    def _peek(self, width: int = 1) -> str:
        return self.pattern[self.position : self.position + width]

    def _accept(self, text: str) -> bool:
        if self.pattern.startswith(text, self.position):
            self.position += len(text)
            return True
        return False

    def _next(self) -> str:
        character = self._peek()
        if not character:
            raise self._error("an unexpected end")
        self.position += 1
        return character

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._error(f"groups nested more than {MAX_DEPTH} deep")

    def _alternatives(self) -> str:
        branches = [self._branch()]
        while self._accept("|"):
            branches.append(self._branch())
        return "|".join(branches)

    def _branch(self) -> str:
        pieces = []
        while self._peek() not in ("", "|", ")"):
            pieces.append(self._atom() + self._quantifier())
        return "".join(pieces)

    def _atom(self) -> str:
        character = self._next()
        match character:
            case "(":
                return self._group()
            case "[":
                return self._class().re2(ignore_case=self.ignore_case)
            case "\\":
                return self._escape_outside()
            case "." | "^" | "$":
                return character
            case "?" | "*" | "+" | "{":
                self.position -= 1
                raise self._error(f"a {character} with nothing before it to repeat")
            case "}" | "]":
                self.position -= 1
                raise self._error(f"a {character} alone (write \\{character})")
            case _:
                return _quoted(character)

    def _group(self) -> str:
        self._deeper()
        captures = not self._accept("?:")
        self.groups += captures
        inner = self._alternatives()
        if not self._accept(")"):
            raise self._error("a ( without its )")
        self.depth -= 1
        return f"({inner})" if captures else f"(?:{inner})"

    def _quantifier(self) -> str:
        sign = self._peek()
        if sign not in ("?", "*", "+", "{") or not sign:
            return ""
        self.position += 1
        written = self._counts() if sign == "{" else sign
        return written + ("?" if self._accept("?") else "")

    def _counts(self) -> str:
        """`{n}`, `{n,}`, `{n,m}`."""
        end = self.pattern.find("}", self.position)
        least, comma, most = self.pattern[self.position : max(end, self.position)].partition(",")
        numbers = [text for text in (least, most) if text]
        if not least or len(least) > 9 or len(most) > 9 or any(not n.isascii() or not n.isdigit() for n in numbers):
            raise self._error("a { that is not a repetition (write {n}, {n,} or {n,m})")
        if any(int(number) > MAX_REPEAT for number in numbers):
            raise self._error(f"more than {MAX_REPEAT} repetitions")
        if most and int(most) < int(least):
            raise self._error("a minimum of repetitions above the maximum")
        self.position = end + 1
        return f"{{{least}{comma}{most}}}"

    def _escape_outside(self) -> str:
        if self._peek() in "123456789" and self._peek():
            raise self._error("a back-reference, which is not supported,")
        found = self._escape()
        if isinstance(found, str):
            return _quoted(found)
        return CharacterClass(escapes=(found,)).re2(ignore_case=self.ignore_case)

    def _escape(self) -> str | Escape:
        """The character or set of characters that an escape sequence stands for."""
        character = self._next()
        if character in _SINGLE:
            return _SINGLE[character]
        if character in _MULTI:
            return Escape(character.lower(), negated=character.isupper())
        if character in "pP" and self._accept("{"):
            end = self.pattern.find("}", self.position)
            name = self.pattern[self.position : end] if end >= 0 else ""
            self.position = end + 1 if end >= 0 else self.position
            return Escape(name, negated=character == "P")
        raise self._error(f"the unknown escape \\{character}")

    def _class(self) -> CharacterClass:
        """After the `[`: a positive or negative group, perhaps without another class."""
        self._deeper()
        negated = self._accept("^")
        spans: list[tuple[int, int]] = []
        escapes: list[Escape] = []
        without = None
        while not self._accept("]"):
            if self._peek(2) == "-[" and (spans or escapes):
                self.position += 2
                without = self._class()
                if not self._accept("]"):
                    raise self._error("something after a subtracted class")
                break
            self._class_part(spans, escapes)
        if not spans and not escapes:
            raise self._error("an empty [ ]")
        self.depth -= 1
        return CharacterClass(tuple(spans), tuple(escapes), negated, without)

    def _class_part(self, spans: list[tuple[int, int]], escapes: list[Escape]) -> None:
        first = self._class_character()
        if isinstance(first, Escape):
            escapes.append(first)
            return
        last: str | Escape = first
        if self._peek() == "-" and self._peek(2) not in ("-]", "-["):
            self.position += 1
            last = self._class_character()
        if isinstance(last, Escape) or ord(last) < ord(first):
            raise self._error("a range in descending order")
        spans.append((ord(first), ord(last)))

    def _class_character(self) -> str | Escape:
        character = self._next()
        if character == "[":
            raise self._error("a [ in a class (write \\[)")
        return self._escape() if character == "\\" else character
