"""Measures to documents. The only place that formats numbers."""
