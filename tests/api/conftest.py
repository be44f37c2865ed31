import pytest

from tests.stimuli.built import lend_stimuli


@pytest.fixture
def folder(tmp_path):
    lend_stimuli(tmp_path)
    return tmp_path


@pytest.fixture
def settings(folder):
    # Calls are counted here; the preflight has tests of its own.
    return {"size": "screen", "folder": folder, "progress": False, "preflight": False}
