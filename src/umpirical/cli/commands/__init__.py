"""One command, one file; each defines `command`."""
