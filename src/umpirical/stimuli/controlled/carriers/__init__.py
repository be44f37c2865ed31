"""Tier 2: real answers of the user's as carriers, with edits that a program can check."""
