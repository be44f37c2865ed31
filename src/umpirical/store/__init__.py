"""Domain to disk and back. The only place that knows file formats."""
