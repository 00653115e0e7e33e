"""Renders the descriptions of engines, for people to read: text, JSON, mermaid, SVG.

Tests: tests/explain.
"""
