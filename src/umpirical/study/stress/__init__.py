"""Stress tests on the user's own data: the spec, the stimuli, the generation and the report of such a study."""
