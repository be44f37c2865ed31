"""The subcommands, one per file; each file defines `command`."""
