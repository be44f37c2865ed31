"""Stress tests: a judge on changed versions of your own data."""
