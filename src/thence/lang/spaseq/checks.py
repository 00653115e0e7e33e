"""What makes a SPAseQ query mean nothing, apart from its variables: names that are unknown or double, negations without
a gap. And what is legal, but hardly meant."""

from __future__ import annotations

from collections.abc import Iterator

from thence.algebra.spaseq import Quantifier, Selection, SequencePart
from thence.algebra.spaseq_analysis import occurrences
from thence.algebra.variables import in_scope
from thence.errors import QueryError
from thence.hints import closest, listed
from thence.lang.spaseq.draft import Draft
from thence.lang.spaseq.scope import Scope
from thence.rdf.terms import IRI


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
            raise draft.error("A negation can't stand first: no event begins its gap.", draft.at(part))
        if all(other.quantifier is Quantifier.OPTIONAL for other in before):
            reason = 'Without the parts that "?" makes optional, the sequence would begin with this negation.'
            raise draft.error(reason, draft.at(part), hint="a part before it that is not optional")
        if draft.window is None and may_end(draft.sequence, index):
            reason = "A negation at the end needs WITHIN, which says how long to wait."
            raise draft.error(reason, draft.at(part), hint="WITHIN 10 MINUTES")


def may_end(sequence: tuple[SequencePart, ...], index: int) -> bool:
    """Whether in some arm nothing but negations stands after this part."""
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


def warnings(scope: Scope) -> Iterator[str]:
    """What is legal, but hardly meant, each as a sentence with its place."""
    draft, sequence = scope.draft, scope.query.sequence
    if draft.window is None and (len(sequence) > 1 or sequence[0].quantifier is Quantifier.PLUS):
        reason = "There is no WITHIN: what is held grows with the stream."
        yield str(draft.error(reason, draft.form.at, hint="WITHIN 10 MINUTES"))
    for defined in draft.gpms:
        if defined.gpm.name not in scope.binding | scope.negated:
            yield str(draft.error(f'The GPM "{defined.gpm.name}" is never used.', defined.at))
    for index, part in enumerate(sequence):
        if part.quantifier is Quantifier.NOT:
            yield from _empty_gaps(scope, index)


def _empty_gaps(scope: Scope, index: int) -> Iterator[str]:
    """Where `,` comes after a negation, no event can lie in its gap; unless it may be of another partition."""
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
