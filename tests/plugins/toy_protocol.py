"""A protocol in one file: every answer is shown beside itself, and a judge that prefers one of the two is found out.

It brings a key of its own to the study file (`mirror`), stimuli, a measure, a record and a page.
"""

from typing import Literal

from pydantic import Field

from umpirical.domain.digests import digest
from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import NoPreference, Stimulus
from umpirical.domain.tallies import Tallies
from umpirical.judges.prompt import resolve_prompts
from umpirical.measures.catalogue import MeasureSpec, measure_all
from umpirical.measures.counting.judgments import counting
from umpirical.measures.estimates.rates import Counted, clustered_rate
from umpirical.protocols.protocol import Protocol, Study, StudySpec
from umpirical.reports.facts import audit_rows, judge_record, run_record, spend_record, trouble_records
from umpirical.reports.pages import Card, Section, environment, plain, render_card, render_sections, sections_of
from umpirical.reports.record import (
    AuditRow,
    JudgeRecord,
    MeasureRecord,
    Record,
    RunRecord,
    SpendRecord,
    TroubleRecord,
    measure_record,
)
from umpirical.runs.judgments import Facts, read_judgments
from umpirical.store.stimulus_sets import StimulusSet, write_stimuli


class MirrorSpec(StudySpec):
    mirror: dict[str, str] = Field(min_length=1, description="Questions, each with its answer.")


class MirrorRecord(Record):
    format: Literal["mirror/1"] = "mirror/1"
    judge: JudgeRecord
    run: RunRecord
    complete: bool
    measures: list[MeasureRecord]
    audit: list[AuditRow]
    trouble: list[TroubleRecord]
    spend: SpendRecord | None
    non_claims: list[str]


def mirror_preference(tallies: Tallies, variant: str) -> list[Measure]:
    """P(one of the two is preferred | a verdict), over calls that show an answer beside itself.

    Formula: (position_1 + position_2) / (position_1 + position_2 + tie). Level: call with a verdict. Bounds: 0 to 1,
    higher is worse. Undefined if no call has a verdict, and with one task alone. Interval: cluster-Wilson over tasks;
    the bounds count calls without a verdict as ties, and as preferences.
    """
    calls = [call for call in tallies.calls if call.variant == variant]
    without = {"abstained": "abstained", "unparsed": "unparsed", "failed": "failed", "unasked": "not asked yet"}
    rate = clustered_rate(
        [
            Counted(call.cluster, call.position_1 + call.position_2, call.position_1 + call.position_2 + call.tie)
            for call in calls
        ],
        unit="call",
        empty="no call has a verdict",
        excluded={words: sum(getattr(call, name) for call in calls) for name, words in without.items()},
    )
    return [Measure("mirror-preference", rate, variant)]


PREFERENCE = MeasureSpec(
    name="mirror-preference",
    title="Preference over itself",
    about="How often it prefers an answer to the same answer.",
    worse="higher",
    compute=mirror_preference,
    protocols=("mirror",),
)

MEASURES = Section(
    "mirror-measures",
    ("mirror",),
    source="""<section><h2>Measures</h2><ul>
{% for measure in records[0].measures %}
<li>{{ measure.title }}:
{% if measure.result.kind == "estimate" %}
{{ numbers.measured_value(measure, measure.result) }}, {{ numbers.measured_counts(measure, measure.result) }}
{% else %}
undefined: {{ measure.result.reason }}
{% endif %}
</li>
{% endfor %}
</ul></section>
""",
)

PAGE = """<!doctype html>
<html lang="en"><head>
{% include "head.html" %}
</head><body><main><h1>{{ title }}</h1>
{% for section in sections %}{{ section }}{% endfor %}
</main></body></html>
"""


class Mirror(Protocol[Study[MirrorSpec], MirrorRecord]):
    """Judges on answers beside themselves."""

    name = "mirror"
    version = "toy-mirror/1"
    mark = "mirror"
    spec = MirrorSpec
    record = MirrorRecord

    def open(self, spec, folder, *, outside):  # noqa: ARG002  # it names no file
        judges = [resolve_prompts(judge, folder, spec.design.variants) for judge in spec.judges]
        return Study(folder, spec.model_copy(update={"judges": judges}), self)

    def stimuli(self, study):
        folder = study.folder / "stimuli" / digest("mirror", study.spec.mirror)[:12]
        if (folder / "manifest.json").exists():
            return StimulusSet(folder)
        pairs = study.spec.mirror.items()
        made = (Stimulus(task, task, (text, text), NoPreference(), "mirror/1", "mirror") for task, text in pairs)
        return write_stimuli(folder, made)

    def report(self, run):
        facts = Facts({}, lambda *_: {})
        with read_judgments(run, facts) as reading, counting(reading.judgments, run.judge.kind) as judgments:
            tallies = Tallies(calls=judgments.calls())
        return MirrorRecord(
            judge=judge_record(run, reading),
            run=run_record(run, reading, tallies),
            complete=reading.unasked == 0,
            measures=[
                measure_record(spec, measure)
                for spec, measure in measure_all(tallies, kind=run.judge.kind, protocol=self.name)
            ],
            audit=audit_rows(tallies.calls),
            trouble=trouble_records(reading),
            spend=spend_record(run, reading.spent),
            non_claims=["Nothing here is about answers that differ."],
        )

    def page(self, record):
        templates = environment("umpirical.reports")
        sections = render_sections(templates, sections_of(self.name, [MEASURES]), [record], {})
        return templates.from_string(PAGE).render(title=f"Mirror: {record.judge.name}", sections=sections)

    def card(self, record):
        return render_card(
            Card(
                protocol=self.name,
                title=f"Mirror: {plain(record.judge.name)}",
                lead=[],
                table=lambda _: [f"- {measure.title}: {measure.result.kind}" for measure in record.measures] + [""],
                fields={"format": record.format, "judge": record.judge.name},
            ),
            record,
        )


MIRROR = Mirror()
