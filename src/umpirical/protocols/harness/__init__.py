"""Configurations of the Judge Reliability Harness, moved into studies."""
