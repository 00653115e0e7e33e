"""The engine of windows over streams (RSEP-QL).

Tests: tests/engines/windows.
"""
