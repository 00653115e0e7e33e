"""EP-SPARQL: what rules derive from background alone is background, also where solutions are ordered."""

from __future__ import annotations

import thence

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
