"""Judges of agents: transcripts under a policy, as they are and edited so that one rule is broken."""
