"""What tests of judges need: a real server on loopback that speaks the chat protocol, and can be made to fail."""

from umpirical.testing.chat_server import ChatServer, Fault

__all__ = ["ChatServer", "Fault"]
