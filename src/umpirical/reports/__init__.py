"""Turns measures into documents. The only place that formats numbers."""
