"""A compiled RSEP-QL query."""
