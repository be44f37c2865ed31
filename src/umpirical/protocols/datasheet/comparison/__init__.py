"""Any number of judges, measured on the same stimuli, side by side."""
