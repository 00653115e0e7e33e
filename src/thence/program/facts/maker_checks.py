"""Which statements make a fact predicate: by events, or from facts (TEF-14); and facts that none makes (TEF-15)."""

from __future__ import annotations

from collections.abc import Iterator

from thence.algebra.expressions import Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import ConstructStatement, Kind, Plain, TefFile, TefStatement
from thence.program.facts.kind_demands import all_demands, head_predicates, read_predicates
from thence.program.facts.kind_table import Kinds, predicate_name
from thence.program.facts.kind_words import keyword_of
from thence.program.facts.placed_errors import StatementErrors
from thence.rdf.terms import IRI


def check_makers(file: TefFile, kinds: Kinds) -> None:
    """A QueryError, if a predicate is both derived from facts and made by events, or REPLACE ends derived facts."""
    derived: dict[IRI, int] = {}
    made: dict[IRI, tuple[int, str]] = {}
    for number, statement in enumerate(file.statements, 1):
        if isinstance(statement, ConstructStatement) and kinds.statements[number - 1] is Kind.FACT:
            for predicate in head_predicates(statement):
                for arm in statement.arms:
                    if isinstance(arm, Plain):
                        derived.setdefault(predicate, number)
                    else:
                        made.setdefault(predicate, (number, keyword_of(arm)))
    for predicate, number in derived.items():
        if predicate in made:
            maker, keyword = made[predicate]
            name = predicate_name(predicate, file.namespace)
            how = "at the start" if keyword == "ON INIT" else "by events"
            reason = f"Statement {number} derives {name} from facts, and {keyword} in statement {maker} makes it {how}."
            missing = "SINCE before every event, or " if maker == number else ""
            hint = f"{missing}another predicate in one of them"
            raise StatementErrors(file, number).at_head(reason, hint, _position(file.statements[number - 1], predicate))
    _check_replaced(file, derived)


def _check_replaced(file: TefFile, derived: dict[IRI, int]) -> None:
    for number, statement in enumerate(file.statements, 1):
        errors = StatementErrors(file, number)
        for demand in all_demands(statement):
            if demand.operator != "REPLACE" or not isinstance(demand.pattern, TriplePattern):
                continue
            predicate = demand.pattern.predicate
            if isinstance(predicate, Variable) and derived:
                reason = f"REPLACE can't end facts of any predicate {predicate}: some are derived from facts."
                raise errors.at_pattern(reason, "a predicate that a statement makes", demand.pattern)
            if isinstance(predicate, IRI) and predicate in derived:
                name = predicate_name(predicate, file.namespace)
                reason = f"REPLACE can't end {name}, which statement {derived[predicate]} derives from facts."
                raise errors.at_pattern(reason, f"REPLACE what {name} is derived from", demand.pattern)


def unmade_facts(file: TefFile, kinds: Kinds) -> Iterator[str]:
    """Warnings of fact predicates that patterns read and no statement makes (TEF-15)."""
    statements = [each for each in file.statements if isinstance(each, ConstructStatement)]
    if any(isinstance(triple.predicate, Variable) for each in statements for triple in each.head):
        return  # it may make any
    told = {predicate for each in statements for predicate in head_predicates(each)}
    for number, statement in enumerate(file.statements, 1):
        for predicate, demand in read_predicates(statement):
            known = kinds.known(predicate)
            if known.kind is Kind.FACT and predicate not in told:
                told.add(predicate)
                name = predicate_name(predicate, file.namespace)
                reason = f"This reads the fact {name} ({known.why}), which no statement makes."
                hint = f"CONSTRUCT FACT, or DECLARE STATIC {name} if the background has it"
                yield str(StatementErrors(file, number).at_pattern(reason, hint, demand.pattern))


def _position(statement: TefStatement, predicate: IRI) -> int:
    """Of the first triple of the head that has the predicate."""
    assert isinstance(statement, ConstructStatement)
    return next(position for position, each in enumerate(statement.head) if each.predicate == predicate)
