"""Measures of the grades that a judge gives to answers of known quality."""
