"""Validity gates: every stimulus set goes through them before anything is asked, and what they found is printed."""
