import pytest

from umpirical.cli import main


@pytest.fixture
def umpirical(capsys):
    """Runs a command in this process; returns exit code, standard output, standard error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return stop.value.code or 0, captured.out, captured.err

    return run
