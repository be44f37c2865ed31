"""Judges that other tools have described, moved into studies."""
