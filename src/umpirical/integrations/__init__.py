"""Optional: each of these needs a package or a program of its own, and is found as an entry point, as plugins are."""
