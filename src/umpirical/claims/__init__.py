"""Estimates that rest on a judge, corrected for its errors, and joined with its datasheet for publication."""
