"""A review as a file: a format of its own that loses nothing, and those of Argilla and Label Studio."""
