import pytest

from tests.attack.runs import sound_run


@pytest.fixture(scope="session")
def sound():
    """A finished run of a simulated judge, which all tests of a session share: they copy it to change it."""
    return sound_run()
