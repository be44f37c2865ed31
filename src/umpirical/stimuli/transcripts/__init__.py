"""Transcripts under a policy: rules that a program can check, and edits whose effect on a rule is known."""
