"""RSEP-QL → dataflow."""
