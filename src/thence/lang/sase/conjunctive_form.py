"""Conditions in conjunctive form (Appendix A.1): a formula is good if in each of its clauses every predicate names the
last component that the clause names."""

from __future__ import annotations

from itertools import product

from thence.algebra.expressions import And, Expression, Not, Or

MOST = 64
"""Clauses that one condition may become: there may be twice as many for each OR."""


class TooManyError(Exception):
    """The conjunctive form is too long."""


Clause = tuple[Expression, ...]


def clauses(formula: Expression) -> list[Clause]:
    """The clauses of a formula, each as the predicates of which one must hold. NOT stands before predicates alone."""
    return _conjunctive(formula, negated=False)


def _conjunctive(formula: Expression, *, negated: bool) -> list[Clause]:
    match formula:
        case Not(operand=operand):
            return _conjunctive(operand, negated=not negated)
        case And(left=left, right=right) | Or(left=left, right=right):
            sides = _conjunctive(left, negated=negated), _conjunctive(right, negated=negated)
            if isinstance(formula, And) != negated:
                found = sides[0] + sides[1]
            else:
                found = [(*one, *other) for one, other in product(*sides)]
            if len(found) > MOST:
                raise TooManyError
            return found
        case _:
            return [(Not(formula) if negated else formula,)]
