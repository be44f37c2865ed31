"""Tier 2: the user's own answers as carriers, with edits that a program can check."""
