from pathlib import Path

import pytest

from tests.stimuli.built import lend_stimuli
from umpirical.study.file import parse_study
from umpirical.study.prepare import prepare_run
from umpirical.study.run import complete_run

JUDGES = Path(__file__).parent / "judges" / "known_judges.py"


class Silent:
    """A watcher that shows nothing."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def resumed(self, trials):
        pass

    def settled(self, outcome, response):
        pass


@pytest.fixture
def measure_known(tmp_path):
    """Measures one of the known judges, end to end, and returns its datasheet."""

    def measure(name: str, **extra: str):
        (tmp_path / "answering.py").write_text(JUDGES.read_text())
        lines = "".join(f"    {key}: {value}\n" for key, value in extra.items())
        lend_stimuli(tmp_path, size="paper")
        judge = f"  - name: {name}\n    callable: answering:{name}\n{lines}"
        text = f"study: known\ndesign: {{size: paper}}\njudges:\n{judge}"
        study = parse_study(text, tmp_path)
        run = prepare_run(study, study.spec.judges[0])
        return complete_run(run, 4, lambda *_: Silent()).record

    return measure
