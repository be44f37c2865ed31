"""The domain: the records on the single path from items to measures. Uses only the standard library."""
