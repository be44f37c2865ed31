"""Measures of how verdicts change when a text is changed."""
