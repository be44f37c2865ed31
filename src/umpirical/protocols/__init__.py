"""Protocols: what a judge is asked about and what is made of its answers. One folder each; none knows another."""
