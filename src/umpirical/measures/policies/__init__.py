"""Transcripts of agents, judged under a policy and under its opposite."""
