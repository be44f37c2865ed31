"""Umpirical tests LLM judges before you trust their scores."""

from typing import TYPE_CHECKING, Any

from umpirical import api

if TYPE_CHECKING:
    from umpirical.api import *  # noqa: F403  # its `__all__` says what

__all__ = ["__version__"]
__all__ += api.__all__
__all__.sort()

__version__: str


def __getattr__(name: str) -> Any:  # noqa: ANN401  # whatever the API has of that name
    """Imports the Python API when something in it is first used, so that the command line starts without it."""
    if name == "__version__":
        from importlib.metadata import version

        return version("umpirical")
    if name in __all__:
        return getattr(api, name)
    raise AttributeError(f"module 'umpirical' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
