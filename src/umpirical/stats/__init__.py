"""Arrays in, numbers out. Uses numpy and scipy, and no types of the domain."""
