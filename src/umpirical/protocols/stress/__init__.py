"""Stress tests: a judge measured on changed versions of the user's own data."""
