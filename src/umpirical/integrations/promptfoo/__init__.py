"""Judges of promptfoo: one assertion of the user's own config, asked through promptfoo's command."""
