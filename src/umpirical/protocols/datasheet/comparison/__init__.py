"""Two judges, or two prompts of one judge, side by side."""
