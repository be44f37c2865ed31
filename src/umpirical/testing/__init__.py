"""Tools for tests of judges and plugins.

They are a server on loopback that speaks the chat protocol and can be made to fail; another with a real language model
behind it; and a conformance kit for every kind of plugin: protocols, measures, report sections, judge adapters, model
adapters, executors, perturbations and dataset readers.
"""

from umpirical.testing.bench_models import installed_model
from umpirical.testing.chat_server import ChatServer, Fault
from umpirical.testing.datasets import check_reader
from umpirical.testing.executors import check_executor
from umpirical.testing.judges import check_judge_adapter
from umpirical.testing.llama_server import LlamaServer
from umpirical.testing.measures import check_measure
from umpirical.testing.models import check_model_adapter
from umpirical.testing.perturbations import check_perturbation
from umpirical.testing.protocols import check_protocol
from umpirical.testing.sections import check_section

__all__ = [
    "ChatServer",
    "Fault",
    "LlamaServer",
    "check_executor",
    "check_judge_adapter",
    "check_measure",
    "check_model_adapter",
    "check_perturbation",
    "check_protocol",
    "check_reader",
    "check_section",
    "installed_model",
]
