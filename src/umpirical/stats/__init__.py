"""Arrays in, numbers out. Knows numpy and scipy, and no type of the domain."""
