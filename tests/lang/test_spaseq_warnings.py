"""What is legal in SPAseQ, but hardly meant."""

from __future__ import annotations

import pytest

from thence.lang.spaseq.parser import parse


def warned(sequence: str, *, clauses: str = "WITHIN 9 TICKS", **gpms: str) -> tuple[str, ...]:
    bodies = {name: f"?{name.lower()} <x:is> ?v{name.lower()}" for name in "ABCN" if name in sequence} | gpms
    definitions = "\n".join(f"DEFINE GPM {name} ON S {{ {body} }}" for name, body in bodies.items())
    query = parse(f"SELECT * {clauses} FROM STREAM S <x:s> {{\nSEQ ({sequence})\n{definitions}\n}}", source="q")
    return query.warnings


GROWS = "q:1:1: WITHIN is missing: the state grows with the stream. Try: WITHIN 10 MINUTES"


def test_a_query_as_it_should_be_has_no_warnings() -> None:
    assert warned("A; B+, C; N!; A") == ()


@pytest.mark.parametrize("sequence", ["A; B", "A, B", "A+", "A & B; C"])
def test_without_a_window_state_grows(sequence: str) -> None:
    assert warned(sequence, clauses="") == (GROWS,)


@pytest.mark.parametrize("sequence", ["A", "A & B", "A | B", "A?"])
def test_a_part_alone_needs_no_window(sequence: str) -> None:
    assert warned(sequence, clauses="") == ()


def test_a_gpm_that_is_never_used_is_told() -> None:
    assert warned("A; B", D="?d <x:p> 1") == ('q:5:12: The GPM "D" is never used.',)


def test_a_gpm_that_is_never_used_may_name_anything() -> None:
    assert len(warned("A; B", D="?d <x:p> 1 FILTER(?nowhere > 1)")) == 1


@pytest.mark.parametrize("sequence", ["A; N!, B", "A; N!; C!, B"])
def test_a_negation_before_strict_contiguity_has_no_effect(sequence: str) -> None:
    message = 'q:2:9: The negation has no effect: "," before B leaves no event in between. Try: ";" before B'
    assert warned(sequence)[0] == message


def test_only_in_the_arm_with_the_strict_operator_the_negation_has_no_effect() -> None:
    message = 'q:2:9: The negation has no effect: "," before B leaves no event in between. Try: ";" before B'
    assert warned("A; N!, B?; C") == (message,)
    assert warned("A, N!; B?, C") == (message.replace("before B", "before C"),)


def test_an_event_of_another_partition_may_lie_in_the_gap() -> None:
    gpms = {"A": "?a <x:key> ?k", "B": "?b <x:key> ?k"}
    assert warned("A; N!, B", clauses="WITHIN 9 PARTITION BY (?k)", **gpms) == ()
    assert len(warned("A; N!, B", clauses="WITHIN 9 PARTITION BY (?k)", **gpms, N="?n <x:key> ?k")) == 1


@pytest.mark.parametrize(
    ("gpm", "where", "column"),
    [
        ("?b <x:p> ?y OPTIONAL { ?b <x:q> ?z FILTER(?z > ?va) }", "a group or BIND", 68),
        ("?b <x:p> ?y BIND(?y - ?va AS ?z)", "a group or BIND", 43),
        ("?b <x:p> ?y GRAPH <x:g> { ?b <x:limit> ?z FILTER(?z > ?y) }", "GRAPH", 30),
    ],
)
def test_what_an_inner_expression_can_not_see_is_told(gpm: str, where: str, column: int) -> None:
    variable = "?y" if where == "GRAPH" else "?va"
    (message,) = warned("A; B", B=gpm)
    assert message == (
        f"q:4:{column}: In GPM B {variable} has no value: an expression inside {where} can't use variables from"
        " outside. Try: FILTER at the top level of the GPM"
    )


def test_warnings_do_not_make_a_query_another_one() -> None:
    one = parse("SELECT * FROM STREAM S <x:s> { SEQ (A, A) DEFINE GPM A ON S { ?a <x:p> 1 } }", source="one")
    two = parse("SELECT * FROM STREAM S <x:s> { SEQ (A, A) DEFINE GPM A ON S { ?a <x:p> 1 } }", source="two")
    assert one.warnings != two.warnings
    assert one == two
