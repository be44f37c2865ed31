"""Verdicts that judges gave in the past, read from the files of others; one format, one file."""
