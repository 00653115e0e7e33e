"""Common mistakes in RSEP-QL, besides those of all languages."""

from __future__ import annotations

from thence.lang.mistakes import Mistake

MISTAKES: tuple[Mistake, ...] = ()
