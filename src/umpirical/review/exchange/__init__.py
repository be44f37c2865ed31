"""A review as a file: in a format of our own that loses nothing, and in those of Argilla and Label Studio."""
