"""From tallies to estimates: what several measures share."""
