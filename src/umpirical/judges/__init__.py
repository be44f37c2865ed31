"""Makes any judge of the user's askable: prompt rendering, answer parsing, and adapters."""
