"""Whatever the user has, made askable: prompt rendering, answer parsing, and the ways in."""
