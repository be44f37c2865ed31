"""Other tools that run Umpirical, or show what it found."""
