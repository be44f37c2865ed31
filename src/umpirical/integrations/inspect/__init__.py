"""Inspect AI: its models and scorers as judges, its logs as transcripts, its tasks and logs of our runs."""
