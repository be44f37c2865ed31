"""Judges with known defects: product code, used by the demo, by tests and to check any new measure."""
