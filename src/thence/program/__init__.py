"""Compiled queries: what plans write and kernels execute. Immutable."""
