"""Validity gates: every stimulus set is held against them before anything is asked, and what they found is printed."""
