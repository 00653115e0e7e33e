"""Words and cures for errors about kinds."""

from __future__ import annotations

from typing import assert_never

from thence.algebra.tef_sparql import Arm, Kind, OnInit, Plain, Replace, Since, Until
from thence.program.facts.kind_demands import Demand


def a_kind(kind: Kind) -> str:
    return {Kind.EVENT: "an event", Kind.FACT: "a fact", Kind.STATIC: "static"}[kind]


def keyword_of(arm: Arm) -> str:
    match arm:
        case Plain():
            return ""
        case Since():
            return "SINCE"
        case Until():
            return "UNTIL"
        case Replace():
            return "REPLACE"
        case OnInit():
            return "ON INIT"
        case _:
            assert_never(arm)


def needed(demand: Demand) -> str:
    match demand.operator, demand.kind:
        case ("DURING" | "WITH", Kind.EVENT):
            return "an event on its left"
        case ("DURING" | "WITH", Kind.FACT):
            return "a fact on its right"
        case (_, Kind.EVENT):
            return "an event"
        case (_, Kind.FACT):
            return "a fact"
        case _:
            return "what the background says"


def cure(demand: Demand, found: Kind) -> str:
    match demand.operator, found:
        case ("SEQ" | "BEFORE", Kind.FACT):
            return f"DURING instead of {demand.operator}, or ONSTART before the fact"
        case ("SEQ" | "BEFORE", _):
            return f'"," instead of {demand.operator}'
        case ("SINCE" | "UNTIL" | "ON", Kind.FACT):
            return f"{demand.operator} (ONSTART … ) or {demand.operator} (ONEND … )"
        case ("SINCE" | "UNTIL" | "ON", _):
            return 'an event beside it, with ",", or DECLARE EVENT if the stream has it too'
        case ("DURING" | "WITH", Kind.EVENT):
            return "SEQ or BEFORE between events, or SINCE to make a fact of the event"
        case ("DURING" | "WITH", Kind.FACT):
            return '"," between facts, or ONSTART before the left one'
        case ("DURING" | "WITH", _):
            return "an event on the left"
        case ("ONSTART" | "ONEND", Kind.EVENT):
            return f"the event without {demand.operator}"
        case ("ONSTART" | "ONEND" | "REPLACE", Kind.STATIC):
            return "a fact that a statement makes"
        case ("REPLACE", _):
            return "a fact that a statement makes; events end by themselves"
        case ("ON INIT", _):
            return "another predicate for what the background says"
        case ("CONSTRUCT EVENT", Kind.FACT):
            return "ONSTART before the fact"
        case ("CONSTRUCT FACT", _):
            return "SINCE before the event"
        case _:
            return "an event beside the static triple"
