"""The query algebra: frozen dataclasses for expressions, patterns and queries; `show` writes them as text.

Tests: tests/lang.
"""
