"""Graph patterns over events: `solutions` gives the answers of a pattern in each event of a batch.

Tests: tests/match.
"""

from thence.match.background import NO_BACKGROUND, Background
from thence.match.solution_table import SolutionTable
from thence.match.solve import reason_for_reference, solutions

__all__ = ["NO_BACKGROUND", "Background", "SolutionTable", "reason_for_reference", "solutions"]
