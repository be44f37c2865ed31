"""Actors of a Ray cluster that ask a run together."""
