"""People review what a generator wrote: what they are shown, and what their decisions do to the stimuli."""
