"""A generator and a validator without a language model, so that everything around them can be rehearsed."""
