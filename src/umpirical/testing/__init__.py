"""What tests of judges and of plugins need.

A real server on loopback that speaks the chat protocol, and can be made to fail; a conformance kit for perturbations.
"""

from umpirical.testing.chat_server import ChatServer, Fault
from umpirical.testing.perturbations import check_perturbation

__all__ = ["ChatServer", "Fault", "check_perturbation"]
