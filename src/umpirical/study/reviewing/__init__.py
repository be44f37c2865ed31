"""A study and its review: what people are shown, and what their decisions do to the stimuli."""
