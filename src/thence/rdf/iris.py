"""Relative IRIs against a base (RFC 3986, section 5.2)."""

from __future__ import annotations

import re

# RFC 3986, appendix B; but what can't be a scheme (`2020-01-01T00:`) is left in the path
_PARTS = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def is_absolute(iri: str) -> bool:
    """Whether the IRI has a scheme.

    >>> is_absolute("urn:x"), is_absolute("data.ttl"), is_absolute("//host/x")
    (True, False, False)
    """
    return _ABSOLUTE.match(iri) is not None


def resolve(reference: str, base: str) -> str:
    """The IRI that a reference means. One that has a scheme is left as it is: IRIs are compared letter by letter.

    >>> resolve("../g?y#s", "http://a/b/c/d;p?q")
    'http://a/b/g?y#s'
    """
    if is_absolute(reference):
        return reference
    scheme, base_authority, base_path, base_query, _ = _split(base)
    _, authority, path, query, fragment = _split(reference)
    if authority is None:
        authority = base_authority
        if path:
            path = _remove_dot_segments(path if path.startswith("/") else _merge(path, base_authority, base_path))
        else:
            path, query = base_path, base_query if query is None else query
    else:
        path = _remove_dot_segments(path)
    return _join(scheme, authority, path, query, fragment)


def _split(iri: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    found = _PARTS.fullmatch(iri)
    assert found is not None  # every string has these parts
    return found[1], found[2], found[3], found[4], found[5]


def _join(scheme: str | None, authority: str | None, path: str, query: str | None, fragment: str | None) -> str:
    parts = (
        "" if scheme is None else f"{scheme}:",
        "" if authority is None else f"//{authority}",
        path,
        "" if query is None else f"?{query}",
        "" if fragment is None else f"#{fragment}",
    )
    return "".join(parts)


def _merge(path: str, base_authority: str | None, base_path: str) -> str:
    if base_authority is not None and not base_path:
        return f"/{path}"
    return base_path[: base_path.rfind("/") + 1] + path


def _remove_dot_segments(path: str) -> str:
    """5.2.4, segment by segment."""
    kept: list[str] = []
    segments = path.split("/")
    for segment in segments:
        if segment == "..":
            if len(kept) > 1 or (kept and kept[0] != ""):
                kept.pop()
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/".join(kept)
