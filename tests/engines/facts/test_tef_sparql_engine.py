"""TEF-SPARQL through the public interface: pushed events, facts at a time, files without SELECT, limits."""

from __future__ import annotations

from pathlib import Path

import pytest

import thence
from support.tef_sparql_cases import EX, HOMES
from thence.errors import InputError, LimitError

LIFE = [(1685, "bornIn", "eisenach"), (1695, "relocatedTo", "ohrdruf"), (1750, "diedIn", "leipzig")]


def event(time: int, predicate: str, target: str) -> thence.Event:
    return thence.Event(time, f"<{EX}bach> <{EX}{predicate}> <{EX}{target}> .")


def place(triple: object) -> str:
    return str(triple.object.value).removeprefix(EX)  # type: ignore[attr-defined]


def test_facts_hold_at_a_time() -> None:
    engine = thence.parse(HOMES).engine(history=True)
    for each in LIFE[:2]:
        engine.push(event(*each))
    engine.advance(1700)
    assert [(start, end, place(triple)) for start, end, triple in engine.facts()] == [(1695, None, "ohrdruf")]
    assert [(start, end, place(triple)) for start, end, triple in engine.facts(at=1690)] == [(1685, 1695, "eisenach")]
    assert engine.facts(at=1600) == []


def test_facts_of_earlier_times_need_a_history() -> None:
    engine = thence.parse(HOMES).engine()
    for each in LIFE[:2]:
        engine.push(event(*each))
    engine.advance(1700)
    assert [place(triple) for *_, triple in engine.facts()] == ["ohrdruf"]
    with pytest.raises(InputError, match=r"held at 1690 are no longer stored\. Try: query\.engine\(history=True\)"):
        engine.facts(at=1690)


def test_facts_that_ended_leave_the_state_of_a_pushed_engine() -> None:
    engine = thence.parse("CONSTRUCT FACT ?r open true WHERE SINCE ?r opened ?_ UNION UNTIL ?r closed ?_").engine()
    sizes = []
    for time in range(400):
        engine.push(event(time, "closed" if time % 2 else "opened", "door"))
        if time in (99, 399):
            sizes.append(len(engine.save()))
    assert sizes[1] < 1.1 * sizes[0]


def test_only_tef_sparql_has_facts() -> None:
    engine = thence.parse("SELECT ?x WHERE { ?x <x:p> ?y }", language="ep-sparql").engine()
    with pytest.raises(InputError, match="TEF-SPARQL"):
        engine.facts()


def test_a_file_without_select_emits_facts_as_they_end_and_open_ones_at_the_end() -> None:
    """TEF-74"""
    found = list(thence.parse(HOMES).match([event(*each) for each in LIFE[:2]]))
    assert [(each.start, each.end) for each in found if isinstance(each, thence.Match)] == [(1685, 1695), (1695, None)]
    assert [each.fact for each in found if isinstance(each, thence.Match)] == [
        f"<{EX}bach> <{EX}liveIn> <{EX}eisenach> .",
        f"<{EX}bach> <{EX}liveIn> <{EX}ohrdruf> .",
    ]


def test_a_fact_on_the_stream_makes_a_bad_event() -> None:
    """TEF-10"""
    events = [event(*LIFE[0]), event(1690, "liveIn", "rome")]
    found = list(thence.parse(HOMES).match(events, problems=True))
    (problem,) = (each for each in found if isinstance(each, thence.Problem))
    assert problem.problem == "bad" and "is a fact" in problem.reason


def test_a_predicate_that_the_background_has_is_no_fact_on_the_stream(tmp_path: Path) -> None:
    """TEF-4, TEF-10: CONSTRUCT FACT would make it a fact; with this background it is static, and ignored."""
    (tmp_path / "likes.nt").write_text(f"<{EX}a> <{EX}likes> <{EX}b> .\n")
    query = thence.parse("CONSTRUCT FACT ?x knows ?y WHERE ?x likes ?y")
    events = [event(5, "likes", "rome")]
    (found,) = query.match(events, background=str(tmp_path / "likes.nt"), problems=True)
    assert isinstance(found, thence.Match) and (found.start, found.fact) == (5, f"<{EX}a> <{EX}knows> <{EX}b> .")
    (problem,) = query.match([*events, event(6, "hates", "rome")], problems=True)
    assert isinstance(problem, thence.Problem)


def test_steps_without_end_are_stopped() -> None:
    """TEF-27"""
    text = "CONSTRUCT EVENT ?x p ?y WHERE ?x p ?y\nSELECT ?x WHERE ?x p ?y"
    query = thence.parse(text, language="tef-sparql")
    with pytest.raises(LimitError, match="max_steps"):
        list(query.match([thence.Event(1, f"<{EX}a> <{EX}p> <{EX}b> .")], max_steps=50))


def test_the_error_of_steps_without_end_names_a_statement_of_the_loop() -> None:
    """TEF-27"""
    events = [thence.Event(1, f"<{EX}a> <{EX}p> 1 .")]
    several = {
        "SELECT ?x WHERE ?x p ?y\nCONSTRUCT EVENT ?x c ?y WHERE ?x p ?y UNION ?x c ?y": "statement 2 is among",
        "CONSTRUCT FACT ?x f ?n WHERE SINCE ?x p ?n UNION SINCE (ONSTART ?x f ?m, ?n = ?m + 1)": "statement 1 is among",
        "CONSTRUCT FACT ?x g ?y WHERE ?x f ?y[?s, ?_], now() > ?s\n"
        "CONSTRUCT FACT ?x f ?y WHERE SINCE ?x p ?y UNION REPLACE ?x f ?y ON (ONSTART ?x g ?y)": "statement 2 is among",
        "CONSTRUCT FACT ?x f ?n WHERE SINCE ?x p ?n\n"
        "CONSTRUCT FACT ?x v ?n WHERE ?x f ?n UNION (?x v ?m, ?n = ?m + 1)": "Statement 2 still derives",
    }
    for text, words in several.items():
        with pytest.raises(LimitError, match=words):
            list(thence.parse(text, language="tef-sparql").match(events, max_steps=50, max_rounds=50))


def test_facts_that_no_pattern_asks_for_have_no_steps() -> None:
    """TEF-27: a hundred facts end at once, and no ONEND is asked for."""
    text = "CONSTRUCT FACT ?x f ?y WHERE SINCE ?x p ?y UNION UNTIL (?x q ?_ DURING ?x f ?y)"
    graph = "".join(f"<{EX}a> <{EX}p> {number} ." for number in range(100))
    events = [thence.Event(1, graph), thence.Event(2, f"<{EX}a> <{EX}q> 1 .")]
    assert len(list(thence.parse(text).match(events, max_steps=50))) == 100


def test_time_alone_drives_a_step() -> None:
    """TEF-63, TEF-64: no event is needed; the end of input is the end of time."""
    text = HOMES + "SELECT ?place WHERE ?person liveIn ?place[?s, ?_], now() > ?s + 10"
    engine = thence.parse(text).engine()
    engine.push(event(*LIFE[0]))
    assert [each.end for each in engine.advance(1696) if isinstance(each, thence.Match)] == []
    assert [each.end for each in engine.advance(1697) if isinstance(each, thence.Match)] == [1696]


def test_events_that_are_kept_for_ever_are_warned_of() -> None:
    """TEF-77"""
    (warning,) = thence.parse("SELECT ?x WHERE ?x p ?y SEQ ?x q ?y", language="tef-sparql").warnings
    assert warning == "Statement 1 keeps events for ever: SEQ may match them at any later time. Try: WITHIN"
    assert thence.parse("SELECT ?x WITHIN 5 TICKS WHERE ?x p ?y SEQ ?x q ?y", language="tef-sparql").warnings == ()
    assert thence.parse(HOMES).warnings == ()
    (warning,) = thence.parse(HOMES + "SELECT ?x WHERE ?x visits ?_ WITH ?x liveIn ?_").warnings
    assert warning == "Statement 2 keeps facts for ever: WITH asks for them if an event lasts. Try: WITHIN"
    once = "CONSTRUCT FACT ?x f ?y WHERE SINCE (?x p ?y WITHOUT ?x f ?_)"  # as docs/tef-sparql.md has it
    (warning,) = thence.parse(once).warnings
    assert warning == "Statement 1 keeps facts for ever: WITHOUT asks for them if an event lasts. Try: WITHIN"


def test_a_bad_event_is_not_the_first_event() -> None:
    """TEF-10, TEF-45: facts of ON INIT start with the first event that is one."""
    text = "CONSTRUCT FACT ?x f ?y WHERE (?x s ?y ON INIT) UNION (SINCE ?x p ?y)"
    import pyoxigraph as ox

    background = ox.Store()
    background.load(f"<{EX}a> <{EX}s> <{EX}b> .".encode(), format=ox.RdfFormat.N_TRIPLES)
    events = [thence.Event(1, f"<{EX}a> <{EX}f> <{EX}c> ."), thence.Event(4, f"<{EX}c> <{EX}p> <{EX}c> .")]
    found = thence.parse(text).match(events, background=background)
    assert [each.start for each in found if isinstance(each, thence.Match)] == [4, 4]


def test_facts_at_a_time_of_another_kind_are_refused() -> None:
    engine = thence.parse(HOMES).engine()
    engine.push(event(*LIFE[0]))
    with pytest.raises(
        InputError, match="can't be asked at 2024-05-06T07:00:00Z: its time is a date, the query's are ticks"
    ):
        engine.facts("2024-05-06T07:00:00Z")
    engine.close()
    assert len(engine.facts()) == 1
