import pytest

from tests.stress.loopback import PERSUADE, answer
from umpirical.cli import main
from umpirical.testing import ChatServer


@pytest.fixture
def umpirical(capsys):
    """Runs a command in this process; returns exit code, standard output, standard error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return stop.value.code or 0, captured.out, captured.err

    return run


@pytest.fixture(scope="module")
def server():
    with ChatServer(answer) as running:
        yield running


@pytest.fixture(scope="session")
def persuade():
    if not PERSUADE.is_dir():
        pytest.skip("needs the essays of ../shared/data/persuade")
    return PERSUADE
