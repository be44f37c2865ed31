"""Judgments to tallies: the SQL that defines what is stable, positional, correct, a quad and a call."""
