"""Judgments to tallies: the SQL that defines what is stable, positional, correct, a crossed pair and a call."""
