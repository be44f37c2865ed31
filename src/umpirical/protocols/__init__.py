"""Protocols: what a judge is asked, and what its answers are turned into. One folder each; none depends on another."""
