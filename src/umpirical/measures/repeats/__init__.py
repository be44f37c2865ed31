"""Measures of how answers to the same request differ."""
