"""Judges of evaluation frameworks. None of them is imported before one of its judges is asked."""
