import pytest

from .serving import serving


@pytest.fixture
def served(tmp_path):
    """Serves a review with the given items until the test ends."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        yield lambda *items, **options: stack.enter_context(serving(tmp_path, items, **options))
