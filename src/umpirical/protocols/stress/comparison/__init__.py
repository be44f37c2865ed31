"""Judges under stress held against each other, study by study, on one page."""
