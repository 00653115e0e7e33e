"""Graph patterns over events: `solutions` gives the answers of a pattern in each event of a batch."""

from thence.match.background import NO_BACKGROUND, Background
from thence.match.evaluator_choice import reason_for_plain
from thence.match.solution_table import SolutionTable
from thence.match.solve import solutions

__all__ = ["NO_BACKGROUND", "Background", "SolutionTable", "reason_for_plain", "solutions"]
