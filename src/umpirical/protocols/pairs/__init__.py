"""Labeled pairs: comparing judges, on your own pairs or a public dataset."""
