"""Changed versions of the user's own responses: one perturbation one file, found by the registry."""
