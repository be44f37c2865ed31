"""The adapter for every provider that Inspect AI knows."""
