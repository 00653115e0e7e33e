"""What makes an RSEP-QL query mean nothing, and what is legal but hardly meant."""

from __future__ import annotations

from collections.abc import Iterator

from thence.algebra.patterns import Bgp, Graph, MatchPattern, Pattern, WindowPattern
from thence.algebra.report import OnClose, Report
from thence.algebra.rsep_ql import StreamOperator, TimeWindow
from thence.hints import closest, listed
from thence.lang.rsep_ql.draft import Draft, StreamBlock, StreamClause, WindowClause, shortened
from thence.lang.sparql.unbound_variables import below, given_variables, unbound_in_filters, unbound_in_form
from thence.rdf.terms import IRI


def check_names(draft: Draft) -> None:
    """Every window has one name, and no other is used (RS-67); something is a window."""
    if not (draft.windows or draft.stream_clauses or draft.blocks):
        reason = "The query has no window, so it reads no stream."
        raise draft.error(reason, draft.form_at, hint="FROM NAMED :S WIN [RANGE 10s SLIDE 5s] AS :w")
    places: dict[IRI, int] = {}
    for window in draft.windows:
        name = draft.written(window.name)
        if window.name in places:
            reason = f"The window {name} is defined twice, first at {draft.line(places[window.name])}."
            raise draft.error(reason, window.at, hint="a new name")
        if window.name in draft.form.dataset.named:
            reason = f"FROM NAMED gives the name {name} to a graph and to a window."
            raise draft.error(reason, window.at, hint="a new name")
        places[window.name] = window.at
    for use in draft.uses:
        if use.keyword != "GRAPH" and use.name not in places:
            raise draft.error(f"There is no window {draft.written(use.name)}.", use.at, hint=_meant(draft, use.name))


def _meant(draft: Draft, name: IRI) -> str:
    known = {each.name.value: draft.written(each.name) for each in draft.windows}
    if near := closest(name.value, known):
        return known[near]
    return listed(known.values()) if known else f"FROM NAMED :S WIN [RANGE 10s] AS {draft.written(name)}"


def all_windows(draft: Draft) -> list[WindowClause | StreamClause | StreamBlock]:
    """The windows in the order of the text; not those of FROM STREAM that STREAM blocks take."""
    clauses: list[WindowClause | StreamClause] = [*draft.windows, *draft.unread_clauses]
    declared = sorted(clauses, key=lambda each: each.at)
    return [*declared, *draft.blocks]


def report(draft: Draft) -> Report | None:
    """When the query is evaluated: what REPORT says, or all brackets. ON CLOSE needs a window with SLIDE (RS-66)."""
    brackets = [each.bracket.report for each in all_windows(draft)]
    found = [*draft.reports, *(each for each in brackets if each is not None)]
    if not found:
        return None
    for other in found[1:]:
        if other.report != found[0].report:
            reason = f"This REPORT differs from the one at {draft.line(found[0].at)}."
            raise draft.error(reason, other.at, hint="the same in all brackets, or one REPORT after FROM")
    functions = [each.bracket.function for each in all_windows(draft)]
    has_slide = any(isinstance(each, TimeWindow) and each.slide is not None for each in functions)
    if isinstance(found[0].report, OnClose) and not has_slide:
        reason = "REPORT ON CLOSE needs a window with SLIDE: no other window closes."
        raise draft.error(reason, found[0].at, hint="[RANGE 10s SLIDE 5s], or REPORT ON CONTENT")
    return found[0].report


def output(draft: Draft) -> StreamOperator | None:
    """What REGISTER says, or what stands after SELECT or CONSTRUCT. REGISTER STREAM and QUERY are RStream."""
    if draft.register is None:
        return None if draft.operator is None else draft.operator.operator
    registered = draft.register.operator.operator
    if draft.operator is None:
        return registered or StreamOperator.RSTREAM
    if registered is not None and registered is not draft.operator.operator:
        assert draft.operator.operator is not None
        reason = f"REGISTER {registered.value} and {draft.operator.operator.value} contradict each other."
        raise draft.error(reason, draft.operator.at, hint="one of them")
    return draft.operator.operator


def warnings(draft: Draft) -> Iterator[str]:
    """What is legal, but hardly meant, each as a sentence with its place."""
    for caution in sorted(draft.cautions, key=lambda each: each.at):
        yield str(draft.error(caution.reason, caution.at, hint=caution.hint))
    yield from _unused(draft)
    windows = {each.name for each in draft.windows}.difference(draft.form.dataset.named)
    for use in draft.uses:
        if use.keyword == "GRAPH" and use.name in windows:
            name = draft.written(use.name)
            yield str(draft.error(f"{name} is a window, and GRAPH reads none.", use.at, hint=f"WINDOW {name} {{ … }}"))
    yield from unbound_in_form(draft, draft.form, draft.form_at)
    given = given_variables(draft.form, *(each.pattern for each in draft.events))
    for pattern in (*(each.pattern for each in draft.events), draft.form.where):
        yield from unbound_in_filters(draft, pattern, given)


def _unused(draft: Draft) -> Iterator[str]:
    used = {use.name for use in draft.uses if use.keyword != "GRAPH"}
    unused = [each for each in draft.windows if each.name not in used]
    for window in unused:
        name = draft.written(window.name)
        if len(draft.windows) == 1 and not draft.stream_clauses and reads_default(draft.form.where):
            reason = f"No WINDOW block reads {name}: triples outside are the default graph's, as in SPARQL."
            yield str(draft.error(reason, window.at, hint=f"WHERE {{ WINDOW {name} {{ … }} }}"))
        else:
            yield str(draft.error(f"The window {name} is never read.", window.at, hint=f"WINDOW {name} {{ … }}"))
    if draft.blocks:
        for clause in draft.unread_clauses:
            name = draft.written(clause.stream)
            reason = f"No STREAM block reads the window of FROM STREAM {name}."
            yield str(draft.error(reason, clause.at, hint=f"STREAM {name} {{ … }}"))
    for event in draft.events:
        if event.name not in draft.matched:
            name = shortened(event.name)
            yield str(draft.error(f'No MATCH names the EVENT "{name}".', event.name_at, hint=f"MATCH {{ {name} }}"))


def reads_default(pattern: Pattern) -> bool:
    """Whether some triples are matched with the default graph."""
    waiting = [pattern]
    while waiting:
        match waiting.pop():
            case Bgp(triples) if triples:
                return True
            case Graph() | WindowPattern() | MatchPattern():
                continue
            case other:
                waiting += below(other)
    return False
