"""Items to stimuli, and the controlled stimuli that need no item."""
