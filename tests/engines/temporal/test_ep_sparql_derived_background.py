"""EP-SPARQL: what rules derive from background alone is background, also where solutions are ordered."""

from __future__ import annotations

import pytest

import thence
from thence.errors import ThenceWarning

PREFIX = "PREFIX : <http://example.org/> "


def test_derived_background_comes_before_all_events_in_the_order_of_solutions() -> None:
    """EP-37, EP-49: the solution of the event and of derived background is before that of the event alone."""
    query = thence.parse(
        PREFIX + "CONSTRUCT { ?y :t ?z } WHERE { ?z :q ?x . ?x :q ?y } CONSTRUCT { :a :q :b } WHERE { }",
        language="ep-sparql",
    )
    event = thence.Event(0, f"@{PREFIX.replace('PREFIX', 'prefix').strip()} . :a :q :a .", id="e0")
    names = [[triple.subject.value[-1] for triple in match.triples] for match in query.match([event])]
    assert names == [["b"], ["a"]]
    engine = query.engine()
    pushed = [*engine.push(event), *engine.close()]
    assert [[triple.subject.value[-1] for triple in match.triples] for match in pushed] == names


def test_a_derived_triple_that_an_event_of_its_instant_brings_is_no_event_of_its_own() -> None:
    """EP-3, EP-63, EP-65: whatever comes first. Each event that holds :a has its zero-length path."""
    query = thence.parse(
        PREFIX + "CONSTRUCT { ?x :s ?n } WHERE { ?x :p ?n } SELECT * WHERE { ?x :s ?n . ?x :q* ?x }",
        language="ep-sparql",
    )
    beginning = f"@{PREFIX.replace('PREFIX', 'prefix').strip()} . "
    events = [thence.Event(0, beginning + f":a :{name} 1 .", id=name) for name in "ps"]
    for some in (events, events[::-1]):
        with pytest.warns(ThenceWarning, match="No event has the attribute :q"):
            assert len(list(query.match(some))) == 2
        engine = query.engine()
        pushed = [row for event in some for row in engine.push(event)]
        assert not pushed  # which of its triples are new, only the whole instant says
        assert len(engine.close()) == 2
