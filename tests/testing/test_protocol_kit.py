"""The kit for protocols: those that ship keep every promise, and a broken one is caught by its promise."""

import json
from itertools import count
from typing import get_args

import pytest
from pydantic import ConfigDict

from tests.plugins.toy_protocol import Mirror, MirrorSpec
from tests.protocols.agent.agent_studies import runs_of_an_agent
from tests.protocols.pairs.pair_studies import labelled
from umpirical.domain.measures import Estimate
from umpirical.domain.tallies import Tallies
from umpirical.protocols.catalogue import PROTOCOLS
from umpirical.protocols.protocol import NewStudy, PlannedCounts, StudyCheck
from umpirical.store.stimulus_sets import write_stimuli
from umpirical.testing.protocols import Promise, check_protocol

MIRRORS = {
    "study": "kit",
    "mirror": {"What is two and two?": "Four.", "Name a colour.": "Red.", "And the capital of Italy?": "Rome."},
    "judges": [{"name": "judge", "callable": "judges:judge"}],
}
JUDGES = {
    "judges.py": """\
def judge(task, first, second):
    return "tie" if "two" in task else "no idea" if "colour" in task else "1"
"""
}

DATASHEET = {
    "study": "kit",
    "tasks": ["jam-batch.plums", "tool-hire.mower", "library-loans.mill"],
    "design": {"size": "screen"},
    "judges": [{"name": "judge", "model": {"adapter": "simulated", "name": "mumbling"}}],
}
STRESS = {
    "study": "kit",
    "dataset": {
        "path": "rows.csv",
        "columns": {"task": "question", "response": "answer", "label": "verdict"},
        "scale": {"kind": "binary", "labels": ["bad", "good"]},
    },
    "stress": {"tests": ["typos", "stability"], "repeats": 2},
    "judges": [{"name": "judge", "model": {"adapter": "simulated", "name": "sound-examiner"}}],
}
ROWS = "question,answer,verdict\n" + "".join(
    f"What is {n} and {n}?,It is {n + right * n} because we add the two numbers up.,{'good' if right else 'bad'}\n"
    for n, right in zip(range(1, 9), (0, 1) * 4, strict=True)
)

AGENT = {
    "study": "kit",
    "transcripts": {"path": "runs.jsonl"},
    "edits": ["missing-call", "cut-ending"],
    "judges": [{"name": "judge", "model": {"adapter": "simulated", "name": "beginning"}}],
}
PAIRS = {
    "study": "kit",
    "dataset": {"path": "pairs.jsonl", "columns": {"chosen": "chosen", "rejected": "rejected"}},
    "edits": ["inline-spacing"],
    "judges": [{"name": "judge", "model": {"adapter": "simulated", "name": "mumbling"}}],
}
PAIR_ROWS = "\n".join(json.dumps(row) for row in labelled(6))
RUNS = "\n".join(json.dumps(run) for run in runs_of_an_agent(3))


@pytest.mark.parametrize(
    ("name", "study", "files"),
    [
        ("datasheet", DATASHEET, {}),
        ("agent", AGENT, {"runs.jsonl": RUNS}),
        ("pairs", PAIRS, {"pairs.jsonl": PAIR_ROWS}),
        ("stress", STRESS, {"rows.csv": ROWS}),
    ],
    ids=["datasheet", "agent", "pairs", "stress"],
)
def test_the_protocols_that_ship_keep_every_promise(name, study, files):
    check_protocol(PROTOCOLS.get(name), study, files)


def test_every_protocol_that_ships_is_checked():
    assert PROTOCOLS.names() == ["datasheet", "agent", "pairs", "stress"]


def check(protocol):
    check_protocol(protocol, MIRRORS, JUDGES)


def test_a_protocol_in_one_file_keeps_every_promise():
    check(Mirror())


class Shouts(Mirror):
    name = "MIRROR"


class LenientSpec(MirrorSpec):
    model_config = ConfigDict(extra="ignore")


class Lenient(Mirror):
    spec = LenientSpec


class Worried(Mirror):
    def check(self, study):
        return StudyCheck(problems=["I do not like it"], stimuli=list(self.stimuli(study)))


class ChecksNothing(Mirror):
    def check(self, study):  # noqa: ARG002
        return StudyCheck()


class MakesAnew(Mirror):
    """The stimuli, each time they are asked for."""

    def stimuli(self, study):
        made = super().stimuli(study)
        return write_stimuli(made.folder, list(made))


class DependsOnTheFolder(Mirror):
    def stimuli(self, study):
        made = super().stimuli(study)
        if study.folder.name == "there" and len(list(made)) == len(study.spec.mirror):
            return write_stimuli(made.folder, list(made)[1:])
        return made


class NewRunEachTime(Mirror):
    numbers = count(1)

    @property
    def version(self):
        return f"toy-mirror/{next(self.numbers)}"


class Imprecise(Mirror):
    def planned(self, judge):  # noqa: ARG002
        class Nothing(PlannedCounts):
            def add(self, trial, stimulus): ...

            def tallies(self):
                return Tallies()

        return Nothing()


def changed(protocol, change):
    """The protocol, with a change to every record that it makes."""

    class Changed(protocol):
        def report(self, run):
            record = super().report(run)
            return record.model_copy(update=change(self, record))

    return Changed


class Restless(Mirror):
    numbers = count(1)


class Rounds(Mirror):
    """A record when it is read."""

    def parse(self, text):
        record = super().parse(text)
        return record.model_copy(update={"non_claims": []})


class Alive(Mirror):
    def page(self, record):
        return super().page(record).replace("</main>", "<script>alert(1)</script></main>")


class Fetches(Mirror):
    def page(self, record):
        return super().page(record).replace("</main>", '<img src="https://example.org/x.png"></main>')


class Unsteady(Mirror):
    numbers = count(1)

    def page(self, record):
        return super().page(record).replace("</h1>", f" {next(self.numbers)}</h1>")


class Wordy(Mirror):
    def card(self, record):
        return super().card(record) + "and so on\n" * 60


class TakesItsWord(Mirror):
    """What a server said, as it said it."""

    def page(self, record):
        return super().page(record).replace("</main>", f"<p>{record.judge.served_by}</p></main>")


class TakesItsWordOnTheCard(Mirror):
    def card(self, record):
        return super().card(record) + f"{record.judge.served_by}\n"


class StartsElsewhere(Mirror):
    def start(self, folder):
        file = folder / "umpirical.yaml"
        file.write_text("study: s\nmirrors: {a: b}\n")
        return NewStudy(file, (file,))


def zero_for_missing(_, record):
    zero = Estimate(value=0, numerator=0, denominator=1, unit="call", interval=None, clusters=1)
    measures = [m if isinstance(m.result, Estimate) else m.model_copy(update={"result": zero}) for m in record.measures]
    return {"measures": measures}


def failures_are_ties(_, record):
    return {"audit": [row.model_copy(update={"tie": row.tie + row.failed, "failed": 0}) for row in record.audit]}


BROKEN = [
    ("card", Shouts),
    ("card", Lenient),
    ("check", Worried),
    ("check", ChecksNothing),
    ("stimuli", MakesAnew),
    ("stimuli", DependsOnTheFolder),
    ("plan", NewRunEachTime),
    ("precision", Imprecise),
    ("whole", changed(Mirror, lambda _, record: {"audit": record.audit[1:]})),
    ("whole", changed(Mirror, lambda *_: {"complete": True})),
    ("the same again", changed(Restless, lambda self, _: {"non_claims": [f"claim {next(self.numbers)}"]})),
    ("the same again", Rounds),
    ("documents", Alive),
    ("documents", Fetches),
    ("documents", Unsteady),
    ("documents", Wordy),
    ("inert", TakesItsWord),
    ("inert", TakesItsWordOnTheCard),
    ("missing", changed(Mirror, zero_for_missing)),
    ("missing", changed(Mirror, failures_are_ties)),
    ("start", StartsElsewhere),
]


@pytest.mark.parametrize(
    ("promise", "protocol"), BROKEN, ids=[f"{promise}-{number}" for number, (promise, _) in enumerate(BROKEN)]
)
def test_a_broken_promise_is_named(promise, protocol):
    with pytest.raises(AssertionError, match=f"^{promise}: "):
        check(protocol())


def test_every_promise_has_a_protocol_that_breaks_it():
    assert {promise for promise, _ in BROKEN} == set(get_args(Promise))
