"""Other ways to read a verdict from the responses that a `compare` judge has given."""
