"""Measures of quads: two texts under two versions of a task, of which each text answers one better."""
