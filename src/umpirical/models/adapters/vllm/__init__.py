"""The adapter for models that vLLM loads into this process."""
