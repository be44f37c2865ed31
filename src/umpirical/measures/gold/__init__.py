"""Measures of agreement with gold labels."""
