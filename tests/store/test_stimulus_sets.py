"""Stimuli on disk."""

from hypothesis import given, settings
from hypothesis import strategies as st

from umpirical.domain.stimuli import FlippedVerdict, GivenLabel, GivenWinner, NoPreference, SameVerdict, Stimulus
from umpirical.store import stimulus_sets
from umpirical.store.stimulus_sets import PART_SIZE, StimulusSet, write_stimuli

TEXTS = st.text(max_size=30)

STIMULI = st.builds(
    Stimulus,
    task_id=TEXTS,
    task=TEXTS,
    candidates=st.lists(TEXTS, min_size=1, max_size=2).map(tuple),
    expectation=st.one_of(
        st.just(NoPreference()),
        st.builds(GivenWinner, st.sampled_from([0, 1])),
        st.builds(GivenLabel, TEXTS),
        st.just(SameVerdict()),
        st.just(FlippedVerdict()),
    ),
    maker=TEXTS,
    family=TEXTS,
    stratum=TEXTS,
    delta=st.none() | st.floats(0, 5),
    base=st.none() | st.integers(0, 5),
    parent=TEXTS,
)


def numbered(count):
    return [Stimulus("t", f"task {number}", ("u", "v"), NoPreference(), "m/1", "f") for number in range(count)]


@settings(max_examples=20, deadline=None)
@given(stimuli=st.lists(STIMULI, max_size=5, unique_by=lambda stimulus: stimulus.id))
def test_stimuli_come_back_as_they_were(tmp_path_factory, stimuli):
    folder = tmp_path_factory.mktemp("set")
    written = write_stimuli(folder, stimuli)
    again = list(StimulusSet(folder))
    assert again == stimuli
    assert [stimulus.id for stimulus in again] == [stimulus.id for stimulus in stimuli]
    assert written.digest == write_stimuli(folder / "again", again).digest


def test_odd_text_comes_back_byte_for_byte(tmp_path):
    odd = "\0 \r\n\t \u2028 \ufeff 🙂 e\u0301 \u202e {{task}} ' \" \\ \x1b[31m"
    [back] = write_stimuli(tmp_path, [Stimulus("t", odd, (odd, ""), NoPreference(), "m", "f")])
    assert (back.task, back.candidates) == (odd, (odd, ""))


def test_a_set_larger_than_a_part_is_written_in_parts_and_read_in_order(tmp_path):
    stimuli = numbered(2 * PART_SIZE + 1)
    found = write_stimuli(tmp_path, iter(stimuli))
    assert found.parts() == [0, 1, 2]
    assert [len(found.part(part)) for part in found.parts()] == [PART_SIZE, PART_SIZE, 1]
    assert list(found) == stimuli
    assert all(found.part(1)[stimulus.id] == stimulus for stimulus in stimuli[PART_SIZE : 2 * PART_SIZE])


def test_the_digest_depends_on_stimuli_and_order_and_not_on_parts(tmp_path, monkeypatch):
    stimuli = numbered(10)
    whole = write_stimuli(tmp_path / "a", stimuli).digest
    assert write_stimuli(tmp_path / "b", stimuli[::-1]).digest != whole
    assert write_stimuli(tmp_path / "c", stimuli[:-1]).digest != whole
    monkeypatch.setattr(stimulus_sets, "PART_SIZE", 3)
    in_parts = write_stimuli(tmp_path / "d", stimuli)
    assert in_parts.parts() == [0, 1, 2, 3]
    assert in_parts.digest == whole
