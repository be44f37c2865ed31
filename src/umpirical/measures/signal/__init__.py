"""Measures from the tie-aware signal-detection model."""
