"""Errors about statements of TEF-SPARQL: at their place in the text, where the file knows it."""

from __future__ import annotations

from dataclasses import dataclass

from thence.algebra.expressions import Variable
from thence.algebra.tef_places import StatementPlaces
from thence.algebra.tef_sparql import TefFile, TefPattern
from thence.errors import QueryError


@dataclass(frozen=True, slots=True)
class StatementErrors:
    """Makes errors about the statement of that number, from 1. A file that was built without a text gives the number
    in place of line and column."""

    file: TefFile
    number: int

    def here(self, reason: str, hint: str) -> QueryError:
        """About the whole statement."""
        return self._made(reason, hint, None if self._places is None else self._places.at)

    def at_pattern(self, reason: str, hint: str, pattern: TefPattern) -> QueryError:
        statement = self.file.statements[self.number - 1]
        return self._made(reason, hint, None if self._places is None else self._places.of(pattern, statement))

    def at_head(self, reason: str, hint: str, triple: int) -> QueryError:
        """About a triple of the head, by its position in it."""
        return self._made(reason, hint, None if self._places is None else self._places.head[triple])

    def at_once_per(self, reason: str, hint: str) -> QueryError:
        return self._made(reason, hint, None if self._places is None else self._places.once_per)

    def at_within(self, reason: str, hint: str) -> QueryError:
        return self._made(reason, hint, None if self._places is None else self._places.within)

    def at_first(self, reason: str, hint: str, variable: Variable) -> QueryError:
        """Where the variable stands first in the statement."""
        places = self.file.places
        return self._made(reason, hint, None if places is None else places.first(variable, self.number))

    def at_last(self, reason: str, hint: str, variable: Variable) -> QueryError:
        """Where the variable stands last in the statement."""
        places = self.file.places
        return self._made(reason, hint, None if places is None else places.last(variable, self.number))

    @property
    def _places(self) -> StatementPlaces | None:
        return None if self.file.places is None else self.file.places.statements[self.number - 1]

    def _made(self, reason: str, hint: str, at: int | None) -> QueryError:
        if at is None or self.file.places is None:
            return QueryError(f"Statement {self.number}: {reason}", hint=hint)
        return self.file.places.text.error(reason, at, hint=hint)
