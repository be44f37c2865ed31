"""Measures of natural pairs: two answers of which nobody planted which is better."""
