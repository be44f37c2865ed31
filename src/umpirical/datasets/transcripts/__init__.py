"""Transcripts of agents from the logs of others: one module for each format, read in a process of its own."""
