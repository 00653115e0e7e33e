"""Random cases: a hundred a property, the same at each run; or as many fresh ones as THENCE_CASES says.

The one that compares the engine with the definitions takes five times as many (test_spaseq_agrees).
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# deadlines measure the machine, not the code: a compiled function's first call takes seconds
settings.register_profile("test", derandomize=True, deadline=None, database=None)
settings.register_profile(
    "long",
    max_examples=int(os.environ.get("THENCE_CASES", "2000")),
    derandomize=False,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("long" if "THENCE_CASES" in os.environ else "test")
