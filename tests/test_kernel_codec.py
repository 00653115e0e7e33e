"""A state that is saved and loaded goes on as if nothing had been; one that does not fit is refused with a reason."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given

from strategies.spaseq import Case, cases, text
from test_spaseq_agrees import background, batches_of, told_by_the_oracle, told_row
from thence.errors import InputError
from thence.kernel import codec
from thence.kernel.memory import NEVER
from thence.kernel.sequence import initial_state
from thence.lang.spaseq import parse
from thence.local.sequences import SequenceRunner
from thence.plan.sequences import plan

pytestmark = pytest.mark.numba

QUERY = "SELECT ?a WITHIN 9 TICKS FROM STREAM S <http://example.org/s> { SEQ (A; B) %s }"
GPMS = "DEFINE GPM A ON S { ?a <x:is> 1 } DEFINE GPM B ON S { ?b <x:is> 2 }"


@given(case=cases())
def test_saving_and_loading_between_any_two_times_changes_nothing(case: Case) -> None:

    runner = SequenceRunner(plan(parse(text(case.query))), background(case))
    told = []
    for low in range(-1, 14):
        piece = {name: [batch.take((batch.ends == low).nonzero()[0])] for name, (batch,) in batches_of(case).items()}
        told += [told_row(row, runner) for row in runner.feed(piece, low + 1)]
        runner.state = codec.load(runner.program, codec.save(runner.program, runner.state))
    told += [told_row(row, runner) for row in runner.feed({}, int(NEVER))]
    times = [event.time for event in case.events]
    assert all(-1 <= time < 14 for time in times)
    assert Counter(told) == told_by_the_oracle(case)


def saved() -> bytes:
    program = plan(parse(QUERY % GPMS))
    return codec.save(program, initial_state(program))


def test_a_state_of_another_query_is_refused() -> None:
    other = plan(parse(QUERY % GPMS.replace("2", "3")))
    with pytest.raises(InputError, match="belongs to another query"):
        codec.load(other, saved())


def test_a_state_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    old = saved()
    monkeypatch.setattr(codec, "VERSION", codec.VERSION + 1)
    with pytest.raises(InputError, match="is of version 1, and this is version 2"):
        codec.load(plan(parse(QUERY % GPMS)), old)


@pytest.mark.parametrize(
    "spoil", [lambda s: s[:-1], lambda s: s[:100] + b"?" + s[101:], lambda s: b"", lambda s: b"x" + s]
)
def test_a_state_that_is_not_whole_is_refused(spoil: object) -> None:
    assert callable(spoil)
    with pytest.raises(InputError, match="not whole"):
        codec.load(plan(parse(QUERY % GPMS)), spoil(saved()))
