"""Stimuli whose right answer is known by construction: tasks, ladder, vacuum, carriers, and their gates."""
