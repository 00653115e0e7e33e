import time, numpy as np
from thence.io import json_scanner as s, csv_cells as c

for f in (s.scan_lines, s.copy_texts, c._count_cells):
    d = f.compiled
    d._cache._enabled = False if hasattr(d._cache, "_enabled") else None
    import numba

    g = numba.njit(d.py_func)
    sig = list(d.overloads)[0] if d.overloads else None
    print(f, sig)
