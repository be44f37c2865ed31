"""Measures of labelled pairs: two answers of which people chose one."""
