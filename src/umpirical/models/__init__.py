"""The port to language models, and its adapters."""
