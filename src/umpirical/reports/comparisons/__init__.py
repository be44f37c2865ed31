"""Judges held against each other: what a difference is worth, in words, and each judge against each."""
