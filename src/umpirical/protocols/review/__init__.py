"""Review of what a generator wrote: what people are shown, and how their decisions change the stimuli."""
