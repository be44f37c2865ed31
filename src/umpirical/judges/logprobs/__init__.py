"""Log-probabilities of an answer's tokens, read as those of its labels."""
