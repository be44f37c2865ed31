"""Stress tests on the user's own data to documents: a record, pages with a heat map and diffs, a card."""
