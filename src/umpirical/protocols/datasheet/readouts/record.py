"""Readouts of one judge side by side: `judge-readouts/1`.

A readout is chosen on one half of the tasks, and what is said about it is measured on the other half. The first half
also sets the tie band, so nothing that is reported depends on a task that decided anything.
"""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from umpirical.reports.record import JudgeRecord, MeasureRecord, RunRecord, Strict

HOW_TO_RECORD = (
    "No log-probabilities were recorded, so no readout of them can be made. To record them, put "
    "decoding: {top_logprobs: 20} into the judge, and run it again: they come with the same calls."
)

NON_CLAIMS = [
    "A readout is chosen among these by this rule; that it is the best there could be is not shown.",
    "Readouts of both orders take two calls for one verdict.",
    (
        "Two identical or two empty answers are one prompt in both orders: a readout of both orders ties on them by "
        "construction, so its dark current is measured on blank answers that differ."
    ),
    "A tie band holds for this judge, with this prompt and these settings, and for no other.",
]

SEEN = "target-sensitivity"

FALSE = ("raw-false-preference", "dark-current")
"""The measures that make a readout acceptable or not."""


class ReadoutRow(Strict):
    """One readout, on either half of the tasks."""

    name: str
    about: str
    pairwise: bool = Field(description="One verdict is read from both orders together.")
    why_not: str = Field(default="", description="Why it cannot be made of these responses; empty if it can.")
    band: float | None = Field(default=None, description="Log-odds within this, in nats, are a tie.")
    datasheet: str = Field(default="", description="Its own datasheet, beside this record.")
    chosen_on: list[MeasureRecord] = Field(default=[], description="On the tasks the choice was made on.")
    reported_on: list[MeasureRecord] = Field(default=[], description="On the other tasks.")
    against_text: list[MeasureRecord] = Field(
        default=[], description="Differences from the readout `text` on the other tasks, pair by pair."
    )


class Recommendation(Strict):
    """Which readout to use, in words."""

    readout: str | None = Field(description="Null if none is acceptable.")
    sentences: list[str]
    rule: list[str] = Field(description="What decided.")


class Readouts(Strict):
    """What can be read from the responses of one judge, measured."""

    format: Literal["judge-readouts/1"] = "judge-readouts/1"
    judge: JudgeRecord
    run: RunRecord
    complete: bool = Field(default=True, description="Every planned trial has a response.")
    arm: str
    target: float = Field(description="False preference that is acceptable, on equal pairs and on vacuum.")
    calibration_tasks: list[str] = Field(description="These set the tie band and decided the choice.")
    reporting_tasks: list[str]
    rows: list[ReadoutRow]
    recommendation: Recommendation
    how_to_record: str = Field(default="", description="What to do where log-probabilities are missing.")
    non_claims: list[str]


def render_readouts_json(readouts: Readouts) -> str:
    """Renders the record as text: the same readouts give the same bytes."""
    return readouts.model_dump_json(indent=1) + "\n"


def parse_readouts(text: str) -> Readouts:
    return Readouts.model_validate_json(text)


def shown_measures(rows: Sequence[ReadoutRow]) -> list[tuple[str, str]]:
    """Returns the (measure, stratum) pairs of a table: the step of one requirement and the largest, or the two ends."""
    steps = sorted({float(m.stratum) for row in rows for m in row.reported_on if m.name == SEEN})
    small = 1.0 if 1.0 in steps else min(steps, default=1.0)
    ends = [f"{step:g}" for step in dict.fromkeys((small, *steps[-1:]))]
    return [*((SEEN, step) for step in ends), *((name, "") for name in FALSE), *(("tie-rate", s) for s in ("0", *ends))]


def measure_in(measures: Sequence[MeasureRecord], name: str, stratum: str) -> MeasureRecord | None:
    return next((measure for measure in measures if (measure.name, measure.stratum) == (name, stratum)), None)
