"""One adapter for each package whose judges can be measured without changes."""
