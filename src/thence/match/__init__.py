"""Graph patterns over events: `solutions` gives the answers of a pattern in each event of a batch."""

from thence.match.background import NO_BACKGROUND, Background
from thence.match.choice import reason_for_plain
from thence.match.solve import solutions
from thence.match.table import Table

__all__ = ["NO_BACKGROUND", "Background", "Table", "reason_for_plain", "solutions"]
