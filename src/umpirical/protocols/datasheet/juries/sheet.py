"""The datasheet of a jury: that of a judge that gives its verdicts."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from umpirical.domain.digests import digest
from umpirical.domain.judgments import Outcome, Unparsed, Verdict
from umpirical.domain.trials import BASELINE
from umpirical.measures.catalogue import measure_all
from umpirical.protocols.datasheet.counting import tally_judgments
from umpirical.protocols.datasheet.facts import FACTS
from umpirical.protocols.datasheet.juries.ballots import CHOICES, Member
from umpirical.protocols.datasheet.juries.seating import Seated, total
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.report import assemble, policy_of
from umpirical.protocols.datasheet.stimuli import stimuli_record
from umpirical.reports.facts import judge_record, run_record, spend_record
from umpirical.reports.record import JudgeRecord, SpendRecord
from umpirical.runs.judgments import Reading, judgment_row
from umpirical.stats.juries import NO_VOTE
from umpirical.store.files import building
from umpirical.store.parquet import row_writer
from umpirical.store.schemas import judgment_schema

NO_QUORUM = "no more than half of the jury gave a verdict"


def jury_datasheet(seated: Seated, name: str, place: Path) -> Datasheet:
    members, shared = seated.members, seated.shared
    first = members[0]
    with building(place / "judgments.parquet") as path:
        reading = _write_judgments(seated, path)
        tallies = tally_judgments(path)
    members_read = sorted(member.reading.responses_sha256 for member in members)
    runs = " ".join(f"runs/{member.run.name}" for member in shared.members)
    run = run_record(first.run, reading, tallies).model_copy(
        update={
            "id": digest("jury", [seated.rule, members_read])[:12],
            "arms": [BASELINE],
            "steps": {},
            "responses_sha256": digest("responses", members_read),
            "command": f"umpirical jury {runs}{_options(seated)}",
        }
    )
    return assemble(
        _judge(seated, name),
        run,
        measure_all(tallies, kind="compare", protocol="datasheet"),
        tallies.calls,
        [],
        planted={},
        stimuli=stimuli_record(first.run.stimuli, first.run.manifest.get("gates", [])),
        spend=_spend(members),
        policy=policy_of(first.run),
    )


def _write_judgments(seated: Seated, path: Path) -> Reading:
    """Writes the jury's verdicts on the calls that may speak for it, in the form of a judge's."""
    reading = replace(seated.members[0].reading, judgments=path, planned=0, unasked=0)
    rows = []
    for (trial, stimulus), verdict in zip(
        seated.shared.calls, seated.verdicts(seated.shared.ballots).tolist(), strict=True
    ):
        if stimulus.cluster in seated.reported_on:
            said: Outcome = Unparsed("", NO_QUORUM) if verdict == NO_VOTE else Verdict(CHOICES[verdict])
            reading.add(said)
            rows.append(judgment_row(trial, stimulus, said, None, FACTS))
    with row_writer(path, judgment_schema(FACTS.columns)) as write:
        write(rows)
    return reading


def _judge(seated: Seated, name: str) -> JudgeRecord:
    """Returns the jury as a judge: a configuration of its own, with its own fingerprint."""
    members = [judge_record(member.run, member.reading) for member in seated.members]
    table = [np.round(part, 9).tolist() for part in (seated.how.support, seated.how.start)]
    return JudgeRecord(
        name=name,
        kind="compare",
        model=f"jury, {seated.rule}: {', '.join(member.name for member in members)}",
        fingerprint=digest("jury", [[member.fingerprint for member in members], seated.rule, table]),
        served_by=sorted({server for member in members for server in member.served_by}),
        decoding={},
        instruction="",
        answer_schema="",
        capabilities={
            ability: all(member.capabilities[ability] for member in members) for ability in members[0].capabilities
        },
    )


def _options(seated: Seated) -> str:
    chosen = " --choose" if seated.looked_best_at is not None else ""
    return f" --rule {seated.rule}{chosen}"


def _spend(members: Sequence[Member]) -> SpendRecord:
    """What the calls of all members took. One verdict of the jury takes a call to each of them."""
    each = [spend_record(member.run, member.reading.spent) for member in members]
    return SpendRecord(
        calls=sum(spend.calls for spend in each),
        cost=total([spend.cost for spend in each]),
        cost_per_1000=total([spend.cost_per_1000 for spend in each]),
        price_table=", ".join(sorted({spend.price_table for spend in each if spend.price_table})),
        latency_p50_ms=None,
        latency_p95_ms=None,
        input_tokens=None,
        output_tokens=None,
    )
