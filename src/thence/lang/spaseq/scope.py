"""Which GPM binds which variable of a SPAseQ query: an index, since a hostile query may need it often."""

from __future__ import annotations

from collections.abc import Iterable

from thence.algebra.expressions import Variable
from thence.algebra.spaseq import Quantifier, SequencePart, SequenceQuery
from thence.algebra.spaseq_analysis import occurrences, variables_of
from thence.errors import QueryError
from thence.hints import closest
from thence.lang.spaseq.draft import Draft


class Scope:
    """A draft, the query that it is to become, and an index of its variables."""

    def __init__(self, draft: Draft, query: SequenceQuery) -> None:
        self.draft = draft
        self.query = query
        self.of = {gpm.name: frozenset(variables_of(gpm)) for gpm in query.gpms}
        self.binders: dict[Variable, list[str]] = {}  # the GPMs that bind each variable
        for name, variables in self.of.items():
            for variable in variables:
                self.binders.setdefault(variable, []).append(name)
        self.parts: dict[str, list[int]] = {name: [] for name in self.of}  # in which each GPM stands
        for index, part in enumerate(query.sequence):
            for name in self._names([part]):
                self.parts[name].append(index)
        self.binding = self._names(part for part in query.sequence if part.quantifier is not Quantifier.NOT)
        self.negated = self._names(part for part in query.sequence if part.quantifier is Quantifier.NOT)
        written = (defined.written for defined in draft.gpms if defined.gpm.name in self.binding)
        self.bound = {variable: None for some in written for variable in some}  # by a match, in the order of the text

    def of_part(self, part: SequencePart) -> frozenset[Variable]:
        """The variables of the GPMs in a part."""
        return frozenset[Variable]().union(*(self.of[name] for name in self._names([part])))

    def holders(self, variable: Variable) -> list[int]:
        """The parts in which the variable stands, negated ones too."""
        return sorted({index for name in self.binders.get(variable, ()) for index in self.parts[name]})

    def binder(self, indices: Iterable[int], variable: Variable) -> str:
        """The first GPM in these parts that binds the variable; nothing, if none does."""
        found = (each.gpm for index in indices for each in occurrences(self.query.sequence[index].operand))
        return next((name for name in found if variable in self.of[name]), "")

    def unbound(self, start: str, variable: Variable, at: int) -> QueryError:
        """The error about a variable that has no value in any match: who binds it, and what was probably meant."""
        binders = self.binders.get(variable, [])
        negated = [name for name in binders if name in self.negated]
        hint = ""
        if negated:
            reason = f"{start} {variable}, which only a negated part binds ({negated[0]}!), so it never has a value."
        elif binders:
            reason = f"{start} {variable}, which only GPM {binders[0]} binds, and SEQ does not use it."
        else:
            reason = f"{start} {variable}, which nothing binds."
            meant = closest(variable.name, (each.name for each in self.binders))
            hint = f"?{meant}" if meant else ""
        return self.draft.error(reason, self.draft.after(variable, at), hint=hint)

    def _names(self, parts: Iterable[SequencePart]) -> frozenset[str]:
        return frozenset(found.gpm for part in parts for found in occurrences(part.operand))
