"""Errors and warnings about a SPAseQ query, and which variables it may name where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from thence.algebra.expressions import Exists, Variable
from thence.algebra.patterns import Bgp, Extend, Graph, GroupKey, Pattern, Projection, Values
from thence.algebra.spaseq import (
    Conjunction,
    Disjunction,
    Occurrence,
    Operand,
    Quantifier,
    Selection,
    SequencePart,
    SequenceQuery,
    occurrences,
    variables_of,
)
from thence.algebra.traversal import nodes
from thence.algebra.variables import always_bound, in_scope, mentioned, parts
from thence.errors import QueryError, closest, listed
from thence.lang.spaseq.draft import Draft, DraftGpm
from thence.rdf.terms import IRI

# Which GPM binds which variable of a SPAseQ query: an index, since a hostile query may need it often.


class GpmScope:
    """A draft, the query that it is to become, and an index of its variables."""

    def __init__(self, draft: Draft, query: SequenceQuery) -> None:
        self.draft = draft
        self.query = query
        self.of = {gpm.name: frozenset(variables_of(gpm)) for gpm in query.gpms}
        self.binders: dict[Variable, list[str]] = {}  # the GPMs that bind each variable
        for name, variables in self.of.items():
            for variable in variables:
                self.binders.setdefault(variable, []).append(name)
        self.parts: dict[str, list[int]] = {name: [] for name in self.of}  # in which each GPM is
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
        """The parts in which the variable is, negated ones too."""
        return sorted({index for name in self.binders.get(variable, ()) for index in self.parts[name]})

    def binder(self, indices: Iterable[int], variable: Variable) -> str:
        """The first GPM in these parts that binds the variable, or an empty text."""
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


# What makes a SPAseQ query mean nothing, apart from its variables: names that are unknown or double, negations without
# a gap. And what is legal, but a likely mistake.


def check_names(draft: Draft) -> None:
    """Every name is given once, and no other is used."""
    _check_streams(draft)
    places: dict[str, int] = {}
    streams = [named.stream.name for named in draft.streams]
    for defined in draft.gpms:
        name, stream = defined.gpm.name, defined.gpm.stream
        if name in places:
            reason = f'The GPM "{name}" is defined twice, first at {draft.line(places[name])}.'
            raise draft.error(reason, defined.at, hint="a new name")
        places[name] = defined.at
        if stream not in streams:
            hint = closest(stream, streams) or (listed(streams) if streams else f"FROM STREAM {stream} <http://…>")
            raise draft.error(f'No FROM STREAM names the stream "{stream}".', defined.stream_at, hint=hint)
    for part in draft.sequence:
        for found in occurrences(part.operand):
            if found.gpm not in places:
                raise _unknown_gpm(draft, found.gpm, draft.places[found.place])


def _check_streams(draft: Draft) -> None:
    places: dict[str, int] = {}
    names: dict[IRI, str] = {}
    for named in draft.streams:
        name, iri = named.stream.name, named.stream.iri
        if name in places:
            reason = f'The stream "{name}" is named twice, first at {draft.line(places[name])}.'
            raise draft.error(reason, named.at, hint="a new name")
        if iri in names:
            raise draft.error(f"{names[iri]} and {name} are the same stream, {iri}.", named.at, hint="one name for it")
        places[name], names[iri] = named.at, name


def _unknown_gpm(draft: Draft, name: str, at: int) -> QueryError:
    known = [defined.gpm.name for defined in draft.gpms]
    stream = draft.streams[0].stream.name if draft.streams else "S1"
    hint = closest(name, known) or f"DEFINE GPM {name} ON {stream} {{ … }}"
    return draft.error(f'There is no GPM "{name}".', at, hint=hint)


def check_negations(draft: Draft) -> None:
    """A negation guards a gap between two parts, or one that WITHIN ends (in every arm, so whatever `?` drops)."""
    for index, part in enumerate(draft.sequence):
        if part.quantifier is not Quantifier.NOT:
            continue
        before = [other for other in draft.sequence[:index] if other.quantifier is not Quantifier.NOT]
        if not before:
            raise draft.error("A negation is not allowed first: no event begins its gap.", draft.at(part))
        if all(other.quantifier is Quantifier.OPTIONAL for other in before):
            reason = 'Without the parts that "?" makes optional, the sequence would begin with this negation.'
            raise draft.error(reason, draft.at(part), hint="a part before it that is not optional")
        if draft.window is None and may_end(draft.sequence, index):
            reason = "A negation at the end needs WITHIN, which says how long to wait."
            raise draft.error(reason, draft.at(part), hint="WITHIN 10 MINUTES")


def may_end(sequence: tuple[SequencePart, ...], index: int) -> bool:
    """Whether in some arm nothing but negations is after this part."""
    return all(part.quantifier in (Quantifier.NOT, Quantifier.OPTIONAL) for part in sequence[index + 1 :])


def following(sequence: tuple[SequencePart, ...], index: int) -> Iterator[int]:
    """The parts that come next after a negation, each in some arm: those that are not negated, up to the first that is
    in every arm."""
    for after in range(index + 1, len(sequence)):
        quantifier = sequence[after].quantifier
        if quantifier is not Quantifier.NOT:
            yield after
        if quantifier in (Quantifier.ONE, Quantifier.PLUS):
            return


def warnings(scope: GpmScope) -> Iterator[str]:
    """Likely mistakes in a legal query, each as a sentence with its place."""
    draft, sequence = scope.draft, scope.query.sequence
    if draft.window is None and (len(sequence) > 1 or sequence[0].quantifier is Quantifier.PLUS):
        reason = "WITHIN is missing: the state grows with the stream."
        yield str(draft.error(reason, draft.form.at, hint="WITHIN 10 MINUTES"))
    for defined in draft.gpms:
        if defined.gpm.name not in scope.binding | scope.negated:
            yield str(draft.error(f'The GPM "{defined.gpm.name}" is never used.', defined.at))
    for index, part in enumerate(sequence):
        if part.quantifier is Quantifier.NOT:
            yield from _empty_gaps(scope, index)


def _empty_gaps(scope: GpmScope, index: int) -> Iterator[str]:
    """Warn of a `,` after a negation: no event can lie in its gap, unless it may be of another partition."""
    part = scope.query.sequence[index]
    names = [found.gpm for found in occurrences(part.operand)]
    bound = {variable for name in names for variable in in_scope(scope.query.gpm(name).pattern)}
    if not bound.issuperset(scope.query.partition):
        return
    for after in following(scope.query.sequence, index):
        if scope.query.sequence[after].selection is Selection.STRICT:
            next_name = occurrences(scope.query.sequence[after].operand)[0].gpm
            reason = f'The negation has no effect: "," before {next_name} leaves no event in between.'
            yield str(scope.draft.error(reason, scope.draft.at(part), hint=f'";" before {next_name}'))


# Which variables a SPAseQ query may name where: in FILTERs across events, in negations, in PARTITION BY.


def check_filters(scope: GpmScope) -> None:
    """A FILTER at the top level of a GPM may name variables of its own GPM, of its `&` group and of earlier parts; in a
    negation also those of the part that follows. In an arm that does not bind them they are unbound."""
    definitions = {defined.gpm.name: defined for defined in scope.draft.gpms}
    sequence = scope.query.sequence
    earlier: set[Variable] = set()
    for index, part in enumerate(sequence):
        around = set(earlier)
        if part.quantifier is Quantifier.NOT:
            around.update(*(scope.of_part(sequence[after]) for after in following(sequence, index)))
        else:
            earlier |= scope.of_part(part)
        for occurrence, group in _groups(part.operand):
            defined = definitions[occurrence.gpm]
            if defined.gpm.filters:
                _check_occurrence(scope, defined, index, around.union(*(scope.of[name] for name in group)))


def _groups(operand: Operand) -> list[tuple[Occurrence, frozenset[str]]]:
    """Each occurrence, with the GPMs that join at the same time: its own and those of its `&` group."""
    match operand:
        case Occurrence():
            return [(operand, frozenset({operand.gpm}))]
        case Disjunction():
            return _groups(operand.left) + _groups(operand.right)
        case Conjunction():
            sides = _groups(operand.left), _groups(operand.right)
            names = [frozenset(found.gpm for found, _ in side) for side in sides]
            return [
                (found, group | other)
                for side, other in zip(sides, reversed(names), strict=True)
                for found, group in side
            ]


def _check_occurrence(scope: GpmScope, defined: DraftGpm, index: int, seen: set[Variable]) -> None:
    for expression, at in zip(defined.gpm.filters, defined.filters_at, strict=True):
        unseen = mentioned(expression) - seen
        if unseen:
            raise _out_of_sight(scope, defined, index, min(unseen, key=lambda v: scope.draft.after(v, at)), at)
        for found in parts(expression):
            if isinstance(found, Exists):
                _check_exists(scope, defined, found, at)


def _out_of_sight(scope: GpmScope, defined: DraftGpm, index: int, variable: Variable, at: int) -> QueryError:
    """The reason why the FILTER can't know the variable."""
    start = f"The FILTER of GPM {defined.gpm.name} names"
    place = scope.draft.after(variable, at)
    holders = scope.holders(variable)
    later = [each for each in holders if each > index and scope.query.sequence[each].quantifier is not Quantifier.NOT]
    if later:
        binder = scope.binder(later, variable)
        reason = f"{start} {variable}, which only a later part binds ({binder})."
        return scope.draft.error(reason, place, hint=f"this FILTER in GPM {binder}")
    if index in holders:
        reason = f'{start} {variable}, which only the other side of "|" binds ({scope.binder([index], variable)}).'
        return scope.draft.error(reason, place)
    return scope.unbound(start, variable, at)


def _check_exists(scope: GpmScope, defined: DraftGpm, exists: Exists, at: int) -> None:
    named = {node for node in nodes(exists.pattern) if isinstance(node, Variable)}
    foreign = scope.binders.keys() & named - scope.of[defined.gpm.name]
    if foreign:
        variable = min(foreign, key=lambda each: scope.draft.after(each, at))
        reason = f"EXISTS reads only the event of GPM {defined.gpm.name}, and {variable} belongs to another GPM."
        hint = "another name, if another variable is meant"
        raise scope.draft.error(reason, scope.draft.after(variable, at), hint=hint)


def check_negated_variables(scope: GpmScope) -> None:
    """A negation is judged when the part after it has come: what it shares only with later parts, it can't know. Parts
    before it that are optional may be missing, so they do not help."""
    sequence = scope.query.sequence
    known: set[Variable] = set()  # in every arm
    for index, part in enumerate(sequence):
        if part.quantifier is Quantifier.NOT:
            own = scope.of_part(part) - known
            for after in following(sequence, index):
                later = _from(scope, after + 1)
                shared = own - scope.of_part(sequence[after])
                unknown = min((v for v in shared if not later.isdisjoint(scope.binders[v])), key=str, default=None)
                if unknown is not None:
                    raise _judged_too_early(scope, index, after, unknown)
        elif part.quantifier is not Quantifier.OPTIONAL:
            known |= scope.of_part(part)


def _from(scope: GpmScope, index: int) -> frozenset[str]:
    """The GPMs that bind something from this part on."""
    later = [part for part in scope.query.sequence[index:] if part.quantifier is not Quantifier.NOT]
    return frozenset(found.gpm for part in later for found in occurrences(part.operand))


def _judged_too_early(scope: GpmScope, index: int, after: int, variable: Variable) -> QueryError:
    sequence = scope.query.sequence
    later = [each for each in range(after + 1, len(sequence)) if sequence[each].quantifier is not Quantifier.NOT]
    reason = (
        f"The negation shares {variable} only with {scope.binder(later, variable)}, and is judged before that,"
        f" when {occurrences(sequence[after].operand)[0].gpm} has come."
    )
    hint = f"another name for {variable} in the negated GPM"
    return scope.draft.error(reason, scope.draft.at(sequence[index]), hint=hint)


def check_partition(scope: GpmScope) -> None:
    """Every event of a match must have a partition, which depends on the event alone."""
    for gpm in scope.query.gpms:
        if gpm.name not in scope.binding:
            continue
        always = always_bound(gpm.pattern)
        missing = next((variable for variable in scope.query.partition if variable not in always), None)
        if missing is None:
            continue
        start = f"PARTITION BY names {missing}, which GPM {gpm.name}"
        if missing in in_scope(gpm.pattern):
            reason = f"{start} does not bind in every event: OPTIONAL, UNION and BIND may leave it out."
        elif missing in scope.of[gpm.name]:
            reason = f"{start} binds only in GRAPH: an event's partition must depend on the event alone."
        else:
            reason = f"{start} does not bind."
        raise scope.draft.error(reason, scope.draft.after(missing, scope.draft.partition_at))


def unseen_inside(scope: GpmScope) -> Iterator[str]:
    """Warnings about expressions that see one event or one graph alone, and name what only something else binds."""
    for defined in scope.draft.gpms:
        for pattern in (defined.gpm.pattern, *defined.gpm.graphs):
            named = {node for node in nodes(pattern) if isinstance(node, Variable)}
            for variable in sorted(scope.binders.keys() & named - _given(pattern), key=str):
                where = "GRAPH" if isinstance(pattern, Graph) else "a group or BIND"
                reason = (
                    f"In GPM {defined.gpm.name} {variable} has no value: an expression inside {where} can't use"
                    " variables from outside."
                )
                at = scope.draft.after(variable, defined.at)
                yield str(scope.draft.error(reason, at, hint="FILTER at the top level of the GPM"))


def _given(pattern: Pattern) -> set[Variable]:
    """The variables that something in the pattern gives a value to, and that are not only in its expressions."""
    found: set[Variable | None] = set()
    for node in nodes(pattern):
        match node:
            case Bgp():
                found.update(in_scope(node))
            case Values():
                found.update(node.variables)
            case Extend() | Projection() | GroupKey():
                found.add(node.variable)
            case Graph(Variable() as name):
                found.add(name)
    return {variable for variable in found if variable is not None}
