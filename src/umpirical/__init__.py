"""Umpirical measures LLM judges as measuring instruments, before anyone trusts their scores."""

__all__ = ["__version__"]

__version__ = "0.1.0"
