"""Graph patterns over events."""
