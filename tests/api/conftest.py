import pytest

from tests.stimuli.built import lend_stimuli


@pytest.fixture
def folder(tmp_path):
    lend_stimuli(tmp_path)
    return tmp_path


@pytest.fixture
def settings(folder):
    return {"size": "screen", "folder": folder, "progress": False}
