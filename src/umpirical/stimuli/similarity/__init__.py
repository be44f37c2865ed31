"""How alike two texts are: a measure of diversity, never of meaning."""
