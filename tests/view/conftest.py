import pytest

from . import studies
from .serving import viewing


@pytest.fixture(scope="session")
def measured(tmp_path_factory):
    """A measured run, which no test changes."""
    return studies.datasheet_run(tmp_path_factory.mktemp("measured") / "parcels")


@pytest.fixture(scope="session")
def begun(tmp_path_factory):
    """A run in progress, of which some answers are in the journal. No test changes it."""
    folder = tmp_path_factory.mktemp("begun") / "parcels"
    return studies.datasheet_run(folder, answer=lambda run: studies.journalled(run, 200), measure=False)


@pytest.fixture(scope="module")
def standing(measured):
    """The view of the measured run, for all the requests that change nothing."""
    with viewing(measured.folder.parent.parent) as found:
        yield found
