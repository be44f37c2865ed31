"""A real language model on loopback: llama.cpp's server as a process of its own.

`python -m umpirical.testing.llama_server MODEL` runs it by hand.
"""

from umpirical.testing.llama_server.server import LlamaServer

__all__ = ["LlamaServer"]
