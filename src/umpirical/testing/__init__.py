"""What tests of judges and of plugins need.

A server on loopback that speaks the chat protocol and can be made to fail; another with a real language model behind
it; conformance kits for measures, perturbations and dataset readers.
"""

from umpirical.testing.bench_models import installed_model
from umpirical.testing.chat_server import ChatServer, Fault
from umpirical.testing.datasets import check_reader
from umpirical.testing.llama_server import LlamaServer
from umpirical.testing.measures import check_measure
from umpirical.testing.perturbations import check_perturbation

__all__ = [
    "ChatServer",
    "Fault",
    "LlamaServer",
    "check_measure",
    "check_perturbation",
    "check_reader",
    "installed_model",
]
