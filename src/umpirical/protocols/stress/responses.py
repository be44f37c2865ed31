"""Responses that a model writes for a study whose dataset has tasks only, and the labels that people give them."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import reduce

from umpirical.datasets.items import DatasetSummary, read_items
from umpirical.datasets.spec import ColumnsSpec, DatasetSpec, ResponsesSpec
from umpirical.domain.bills import WritingEstimate
from umpirical.domain.digests import Json
from umpirical.domain.errors import UsageError
from umpirical.domain.responses import Response, Usage
from umpirical.domain.reviews import ReviewItem
from umpirical.domain.stimuli import Attempt, Item
from umpirical.models.money import Ledger, Meter, Pricer
from umpirical.models.prices import UNPRICED, WorstCase
from umpirical.models.spec import Calling, open_model
from umpirical.protocols.stress.spec import StressStudy
from umpirical.protocols.writing import (
    GENERATED,
    MadeCounts,
    WatchGeneration,
    WriterSpec,
    Writing,
    Written,
    generation,
    has_generation,
)
from umpirical.runs.attempts import GenerationWatcher, Open, settle
from umpirical.runs.loop import run_on_loop
from umpirical.stimuli.asks import Ask
from umpirical.stimuli.generation.attempt import RESPONDER, RESPONSES, WantedResponse, respond
from umpirical.stimuli.generation.commissions import GenerationTerms, Writer
from umpirical.store.files import write_text
from umpirical.store.generation import GenerationStore


def writing_spend(terms: GenerationTerms, calls: Iterable[tuple[str, Response]]) -> list[Json]:
    """Returns what the calls of each role took, in the order of the roles; a role that was not asked is left out."""
    by_role: Mapping[str, list[Response]] = defaultdict(list)
    for role, response in calls:
        by_role[role].append(response)
    writers = {
        "generator": terms.generator,
        "own-generator": terms.own_generator,
        "validator": terms.validator,
        "fallback": terms.fallback,
    }
    return [
        role_spend(role, writer, by_role[role])
        for role, writer in writers.items()
        if writer is not None and by_role[role]
    ]


def role_spend(role: str, writer: Writer, responses: Sequence[Response]) -> Json:
    """Returns what the calls of one role took; there is at least one."""
    costs = [response.cost for response in responses]
    known = [cost for cost in costs if cost is not None]
    usage = reduce(Usage.plus, (response.usage for response in responses))
    return {
        "role": role,
        "model": writer.words,
        "calls": len(responses),
        "refused": sum(response.failure == "refused" or response.ending == "refused" for response in responses),
        "failed": sum(response.failure not in (None, "refused") for response in responses),
        # A sum of what is known would pass for the whole.
        "cost": "0" if writer.simulated else str(sum(known, Decimal(0))) if len(known) == len(costs) else None,
        "price_table": ", ".join(sorted({response.price_table for response in responses} - {""})),
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
    }


FOR_PEOPLE = "responses.jsonl"
"""Every response with the row that it is to, for people to label."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The rows of a sample with what the model answered."""

    items: tuple[Item, ...]
    """Those that have a response."""
    wanted: int
    model: str
    simulated: bool
    without: Mapping[str, int]
    """Rows that have none, by reason. None of them is shown to a judge."""
    stale: int
    """Labels of a row that were given to another response than the one on record."""
    spend: Json
    """What the responses took."""

    def as_json(self) -> dict[str, Json]:
        return {
            "model": self.model,
            "simulated": self.simulated,
            "wanted": self.wanted,
            "written": len(self.items),
            "without": dict(self.without),
            "stale": self.stale,
            "spend": self.spend,
        }


def answered(study: StressStudy, items: Sequence[Item], summary: DatasetSummary) -> tuple[Answered, DatasetSummary]:
    """Returns the rows with their responses and labels. Raises UsageError while responses are still to be written."""
    asked = _wanted(study, items)
    if left := responses_left(study, items):
        raise UsageError(
            f"{left:,} of {len(set(asked)):,} responses are not written yet",
            fix=f"run: umpirical generate {study.folder}",
        )
    with generation(study.folder) as store:
        found = {attempt.commission: attempt for attempt in store.attempts([wanted.id for wanted in asked])}
        calls = [response for _, response in store.spent({wanted.id for wanted in asked})]
    said = [found[wanted.id] for wanted in asked]
    labels = _labels(study)
    known = {name for name, _ in labels}
    kept = [
        replace(item, response=attempt.text, labels=labels.get((item.name, attempt.text), ()))
        for item, attempt in zip(items, said, strict=True)
        if attempt.stimulus is not None
    ]
    writer = asked[0].writer
    made = Answered(
        items=tuple(kept),
        wanted=len(items),
        model=writer.words,
        simulated=writer.simulated,
        without=Counter(attempt.rejected for attempt in said if attempt.rejected),
        stale=sum(item.name in known and not item.labels for item in kept),
        spend=role_spend(RESPONDER, writer, calls) if calls else None,
    )
    return made, _summed_up(summary, kept)


def responses_left(study: StressStudy, items: Sequence[Item]) -> int:
    """Returns how many responses are still to be written. Creates no record where there is none."""
    wanted = {each.id for each in _wanted(study, items)}
    if not has_generation(study.folder):
        return len(wanted)
    with generation(study.folder) as store:
        return len(wanted - store.settled().keys())


class ResponsesWriting(Writing):
    """The responses that a study wants. They come first: every other text is made from them."""

    def __init__(self, study: StressStudy, spec: ResponsesSpec) -> None:
        self._study, self.folder = study, study.folder
        self.models = {RESPONDER: spec.model}
        self.review = study.review_terms
        self._items, _ = read_items(study.spec.dataset, study.folder, seed=study.spec.seed, columns=study.named_columns)
        self._commissions = {wanted.id: wanted for wanted in _wanted(study, self._items)}

    @property
    def wanted(self) -> int:
        return len(self._commissions)

    @property
    def is_open(self) -> bool:
        """Whether there are responses still to be written."""
        return bool(self._left())

    def estimate(self, pricers: Mapping[str, Pricer]) -> WritingEstimate:
        pricer, worst = pricers[RESPONDER], WorstCase()
        left = self._left()
        for wanted in left:
            worst.add(pricer.worst(wanted.request), self.models[RESPONDER])
        known = pricer is not UNPRICED
        return WritingEstimate(
            commissions=self.wanted,
            settled=self.wanted - len(left),
            fewest_calls=len(left),
            most_calls=len(left),
            expected=worst.total if known else None,
            at_most=worst.at_most if known else None,
            tables=(pricer.table,),
        )

    def write(
        self, pricers: Mapping[str, Pricer], ledger: Ledger, watch: Callable[[str, int], WatchGeneration]
    ) -> Written:
        with generation(self.folder) as store:
            with store.locked(), watch("generate", self.wanted) as watcher:
                run_on_loop(self._write(store, pricers, ledger, watcher))
            attempts = {attempt.commission: attempt for attempt in store.attempts(list(self._commissions))}
            open_ones = self._commissions.keys() - attempts.keys()
            failures = store.failures(open_ones)
        self._show_people(attempts)
        counts = MadeCounts(wanted=self.wanted, attempts=len(attempts), open=len(open_ones))
        counts.rejected = dict(Counter(each.rejected for each in attempts.values() if each.rejected))
        counts.generated = sum(each.stimulus is not None for each in attempts.values())
        return Written({RESPONSES: counts}, failures, more=bool(self._study.spec.stress.generated))

    def items_after(self, serial: int, *, most: int) -> list[tuple[int, ReviewItem | None]]:  # noqa: ARG002
        """Returns nothing: a response is the data that a study is about, and nothing that was aimed at."""
        return []

    def _left(self) -> list[WantedResponse]:
        if not has_generation(self.folder):
            return list(self._commissions.values())
        with generation(self.folder) as store:
            settled = store.settled()
        return [wanted for name, wanted in self._commissions.items() if name not in settled]

    async def _write(
        self, store: GenerationStore, pricers: Mapping[str, Pricer], ledger: Ledger, watcher: GenerationWatcher
    ) -> None:
        spec, left = self._study.spec, self._left()
        watcher.resumed(self.wanted - len(left))
        meter = Meter(pricers[RESPONDER], ledger)
        model = open_model(self.models[RESPONDER], Calling(spec.concurrency, meter, seed=spec.seed))
        try:
            await settle(
                [_OpenResponse(wanted) for wanted in left],
                store,
                {RESPONDER: model},
                watcher=watcher,
                concurrency=spec.concurrency,
            )
        finally:
            await model.close()

    def _show_people(self, attempts: Mapping[str, Attempt]) -> None:
        """Writes the responses in the form in which their labels are read."""
        lines = []
        for item, wanted in zip(self._items, _wanted(self._study, self._items), strict=True):
            attempt = attempts.get(wanted.id)
            if attempt is not None and attempt.stimulus is not None:
                row = {"id": item.name, "task": item.task, "response": attempt.text, "label": ""}
                lines.append(json.dumps(row, ensure_ascii=False) + "\n")
        write_text(self.folder / GENERATED / FOR_PEOPLE, "".join(lines))


class _OpenResponse(Open):
    """A response that is still to be written."""

    def __init__(self, wanted: WantedResponse) -> None:
        self.id = wanted.id
        self.numbers = range(1)
        self._wanted = wanted

    def attempt(self, number: int) -> Generator[Ask, Response, Attempt]:  # noqa: ARG002  # there is one
        return respond(self._wanted)


def _wanted(study: StressStudy, items: Sequence[Item]) -> list[WantedResponse]:
    """Returns the response that each row wants."""
    spec = study.spec.dataset.responses
    if spec is None:
        return []
    writer = WriterSpec(model=spec.model, max_tokens=spec.max_tokens).writer
    return [WantedResponse(item.task, study.response_prompt, writer, spec.temperature) for item in items]


def _labels(study: StressStudy) -> dict[tuple[str, str], tuple[str, ...]]:
    """Returns what people have said of responses, by row and text: a label of one text is none of another."""
    dataset = study.spec.dataset
    if dataset.responses is None or dataset.responses.labels is None:
        return {}
    spec = DatasetSpec(
        path=dataset.responses.labels,
        columns=ColumnsSpec(id="id", response="response", label="label"),
        scale=dataset.scale,
        limits=dataset.limits,
    )
    rows, _ = read_items(spec, study.folder)
    return {(row.name, row.response): row.labels for row in rows if row.labels}


def _summed_up(summary: DatasetSummary, kept: Sequence[Item]) -> DatasetSummary:
    """Returns what is known of a dataset once it has responses."""
    found = Counter(label for item in kept for label in item.labels)
    labels = {label: found[label] for label in summary.labels}
    unlabelled = sum(not item.labels for item in kept)
    return replace(
        summary,
        unlabelled=unlabelled,
        empty_responses=0,
        labels=labels,
        items=len(kept),
        sampled_labels=labels,
        sampled_unlabelled=unlabelled,
    )
