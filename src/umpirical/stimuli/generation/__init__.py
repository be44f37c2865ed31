"""Stimuli that a language model writes: what is asked, what is checked, and who has to agree."""
