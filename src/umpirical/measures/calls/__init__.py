"""Measures of what calls came to, whatever they were about."""
