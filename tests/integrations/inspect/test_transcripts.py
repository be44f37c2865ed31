"""The transcripts of an agent run as a log of Inspect's, and back again."""

import zipfile

import pytest

from tests.protocols.agent.agent_studies import write_study
from umpirical import run
from umpirical.datasets.transcripts.files import read_transcripts
from umpirical.domain.errors import UsageError
from umpirical.domain.transcripts import transcript_from_text
from umpirical.integrations.inspect.export import export_transcripts
from umpirical.store.stimulus_sets import StimulusSet


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = write_study(tmp_path_factory.mktemp("agent"), "sound-auditor", count=3)
    run(folder, trust=True)
    return folder


def test_every_edited_transcript_comes_back_from_the_log_as_it_was(study, tmp_path, umpirical):
    [measured] = study.glob("runs/*")
    code, out, err = umpirical("export", measured, "--to", "inspect-transcripts", "--out", tmp_path / "shown.eval")
    assert code == 0, err
    assert "inspect view" in out
    [folder] = study.glob("stimuli/*")
    stimuli = list(StimulusSet(folder))
    read = read_transcripts(tmp_path / "shown.eval", strata=["truth", "edit"])
    assert len(read.transcripts) == len(stimuli)
    shown = {each.name.rpartition(" ")[2]: each for each in read.transcripts}
    for stimulus in stimuli:
        found = shown[stimulus.id[:8]]
        assert found.messages == transcript_from_text(stimulus.candidates[0]).messages
        assert (found.strata["truth"], found.strata["edit"]) == (stimulus.gold, stimulus.family)
    assert zipfile.is_zipfile(tmp_path / "shown.eval")


def test_a_run_on_other_texts_is_refused(tmp_path):
    (tmp_path / "umpirical.yaml").write_text(
        "study: s\ndesign: {size: screen}\njudges:\n  - {name: j, model: {adapter: simulated, name: careful}}\n"
    )
    run(tmp_path, trust=True)
    [measured] = tmp_path.glob("runs/*")
    with pytest.raises(UsageError, match="is not a run on transcripts"):
        export_transcripts(measured, tmp_path / "x.eval")
