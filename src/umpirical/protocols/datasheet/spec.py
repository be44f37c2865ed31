"""The study file of a datasheet, and how its test cases are presented."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import combinations, product
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from umpirical.domain.digests import Json
from umpirical.domain.errors import UsageError
from umpirical.domain.scales import JudgeKind
from umpirical.domain.stimuli import TIER_2, Family, Stimulus
from umpirical.domain.tallies import CallTally, GradePairTally, PairTally, QuadTally, Tallies, VacuumTally
from umpirical.domain.trials import BASELINE, LABEL_SETS, TIE_PLACES, Layout, Order, Presentation, Trial
from umpirical.judges.judge import Capabilities
from umpirical.measures.shifts import LONGEST, SHORTEST
from umpirical.protocols.protocol import DesignSpec, JuryTerms, NewStudy, PlannedCounts, Study, StudySpec
from umpirical.protocols.start import new_study_file, scalar, study_name
from umpirical.reports.policy import CheckShelf
from umpirical.runs.plan import Design
from umpirical.runs.rounds import Place, next_round
from umpirical.stimuli.controlled.datasheet_set import DECIDED, STANDARD
from umpirical.stimuli.controlled.materials import Ladder
from umpirical.store.files import write_text

SHELF = CheckShelf(
    "umpirical.protocols.datasheet",
    "ranking",
    "adjudication",
    "ci-smoke",
    "claim",
    renamed={"release": "adjudication"},
)

PRESETS = SHELF.names
DEFAULT = PRESETS[0]
chosen_policy, preset, read_policy, policy_schema = SHELF.chosen, SHELF.preset, SHELF.read, SHELF.schema


class VariantSpec(BaseModel):
    """One prompt variant: its instruction, and the pairs it is asked about."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: str = Field(
        default="",
        description="A built-in instruction (strict) or a file next to the study file. Default: the variant's name.",
    )
    steps: tuple[float, ...] | None = Field(
        default=None,
        min_length=1,
        description="Ask only about pairs with these differences in requirements; 0 for equal pairs. Default: all.",
    )
    temperature: float | None = Field(
        default=None,
        ge=0,
        description="Ask with the judge's own prompt at this temperature, instead of with another prompt.",
    )

    @field_validator("steps")
    @classmethod
    def _sizes(cls, steps: tuple[float, ...] | None) -> tuple[float, ...] | None:
        if steps is not None and (min(steps) < 0 or len(set(steps)) != len(steps)):
            raise ValueError("steps must be distinct numbers of requirements, 0 or more")
        return steps

    @model_validator(mode="after")
    def _one_change(self) -> "VariantSpec":
        if self.prompt and self.temperature is not None:
            raise ValueError("a variant has a prompt or a temperature, so that one change explains the difference")
        return self


PROMPT_COMPLEXITY = "prompt-complexity"
"""Stands for the built-in prompts that ask the same with fewer words or more, at the steps that show a difference."""


def _by_name(variants: Any) -> Any:  # noqa: ANN401  # whatever was written
    """Takes a list of names as variants that are asked about everything; the baseline comes first among named ones."""
    if isinstance(variants, list | tuple) and all(isinstance(name, str) for name in variants):
        named: dict[str, object] = {name: {} for name in variants if name != PROMPT_COMPLEXITY}
        return named if len(named) == len(variants) else {BASELINE: {}, **named, **COMPLEXITY}
    return {BASELINE: {}, **variants} if isinstance(variants, Mapping) else variants


COMPLEXITY = {name: {"steps": [0, 1, 5]} for name in (SHORTEST, "guided", LONGEST)}

Variants = Annotated[
    dict[str, VariantSpec], BeforeValidator(_by_name, json_schema_input_type=list[str] | dict[str, VariantSpec])
]


class DatasheetDesignSpec(DesignSpec):
    """How much to ask, and how often."""

    variants: Variants = Field(  # type: ignore[assignment]  # by name too: all that the other protocols look at
        default={BASELINE: VariantSpec()},
        min_length=1,
        description="Prompt variants: names (baseline, strict, forced-choice, prompt-complexity), or names with prompt "
        "and steps, such as {strict: {steps: [0, 1, 5]}}; the baseline is added. prompt-complexity asks the same with "
        "a short prompt, with guidelines, and with guidelines and an example. The prompts are for judges without "
        "prompts of their own.",
    )
    size: str = Field(
        default=DECIDED,
        description="Ask this much: screen, paper, standard or full. Default: ask in rounds, at most 4,560 calls, and "
        "stop as soon as the verdict is reached.",
    )
    until: Literal["asked", "decided"] = Field(
        default="decided",
        description="When to stop: asked, when all of `size` is asked; decided, when the verdict is reached. Default: "
        "asked with a size, decided without.",
    )
    graded: Ladder = Field(
        default="crossed",
        description="crossed: only a judge that reads the task can pass. filler: for comparison with the paper.",
    )
    layout: Literal["varied", "fixed"] = Field(
        default="varied",
        description="varied: labels and options change from pair to pair, which separates their effects. fixed: "
        "always 1 and 2, the tie last, as in the paper.",
    )

    @model_validator(mode="before")
    @classmethod
    def _all_of_it(cls, given: Any) -> Any:  # noqa: ANN401  # whatever was written
        """Asks everything if somebody says how much that is, or compares with the paper."""
        if not isinstance(given, Mapping):
            return given
        fixed = given.get("size", DECIDED) != DECIDED or given.get("graded") == "filler"
        asked = given.get("until", "asked" if fixed else "decided") == "asked"
        return {"size": STANDARD, "until": "asked", **given} if asked else given

    @model_validator(mode="after")
    def _whole_baseline(self) -> "DatasheetDesignSpec":
        if BASELINE in self.variants and self.variants[BASELINE].steps is not None:
            raise ValueError("the baseline cannot have steps: other prompt variants are compared with it")
        if BASELINE in self.temperatures:
            raise ValueError("the baseline has the judge's own temperature: set it in the judge's decoding")
        return self

    @property
    def prompts(self) -> dict[str, str]:
        """The prompt of each variant, for judges that name none."""
        return {name: one.prompt or name for name, one in self.variants.items() if one.temperature is None}

    @property
    def temperatures(self) -> dict[str, float]:
        """The temperature of each variant that has the judge's own prompt."""
        return {name: one.temperature for name, one in self.variants.items() if one.temperature is not None}

    @property
    def steps(self) -> dict[str, tuple[float, ...]]:
        """The steps of each probe."""
        return {name: variant.steps for name, variant in self.variants.items() if variant.steps is not None}


DESIGNS: Mapping[str, Mapping[str, Any]] = {
    "paper": {
        "size": "paper",
        "graded": "filler",
        "layout": "fixed",
        "variants": {"strict": {"steps": [0, 1, 5]}},
    }
}
"""Designs by name. `paper` is that of the Dark Current paper."""


def design_keys(name: str) -> Mapping[str, Any]:
    """Returns the keys of a design by its name."""
    if name not in DESIGNS:
        raise UsageError(f"unknown design {name!r}", fix=f"choose {', '.join(DESIGNS)}, or list its keys")
    return DESIGNS[name]


def _named_design(design: Any) -> Any:  # noqa: ANN401  # whatever was written
    return design_keys(design) if isinstance(design, str) else design


NamedDesign = Annotated[
    DatasheetDesignSpec, BeforeValidator(_named_design, json_schema_input_type=Literal["paper"] | DatasheetDesignSpec)
]


class DatasheetSpec(StudySpec):
    """A datasheet study: judges on built-in test cases."""

    tasks: list[str] | None = Field(
        default=None,
        description="Task files (.yaml) next to the study file, or built-in tasks or families. Default: by size.",
    )
    own_answers: str | None = Field(
        default=None,
        description="A file next to the study file with your own answers and the facts in them that you verified.",
    )
    design: NamedDesign = DatasheetDesignSpec()
    policy: str = Field(
        default=DEFAULT,
        description=f"Acceptance policy: {', '.join(PRESETS)}, or a .yaml file next to the study file.",
    )

    @model_validator(mode="after")
    def _tasks_once(self) -> "DatasheetSpec":
        if self.tasks is not None and len(set(self.tasks)) != len(self.tasks):
            raise ValueError("tasks names a task twice")
        return self


DatasheetStudy = Study[DatasheetSpec]


STUDY = """\
# A study lists the judges to test. `umpirical schema config` lists every key.
study: {name}
seed: 1

judges:
  # Two simulated judges that need no API key: a good one, and a broken one that always picks the first answer.
  - name: sound
    model: {{adapter: simulated, name: careful}}
  - name: locked
    model: {{adapter: simulated, name: slot-locked}}

  # A model behind any OpenAI-compatible server, with the built-in prompt:
  # - name: my-model
  #   model:
  #     adapter: openai-compatible
  #     name: the-name-on-the-server
  #     base_url: http://127.0.0.1:8000/v1
  #     api_key_env: MY_API_KEY        # the name of a variable, never the key
  #   prompts: {{baseline: my-prompt.md}}   # needs {{{{task}}}}, {{{{first}}}} and {{{{second}}}}
  #   decoding: {{temperature: 0, max_tokens: 256}}

  # Your own judge, as a Python function: judge(task, first, second) -> "1", "2", "tie" or "abstain"
  # - name: mine
  #   callable: my_judge:judge

# Your own answers, with facts in them that you have verified, are reported separately:
# own_answers: answers.yaml    # answers: [{{id: a, task: ..., answer: ..., facts: [a passage of the answer]}}]
#                           # and context: the source it relies on, if any

design:
  repeats: 1

concurrency: 16
"""


def start_study(folder: Path) -> NewStudy:
    """Writes a study file that runs as is. Never overwrites a file."""
    file = new_study_file(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_text(file, STUDY.format(name=scalar(study_name(folder))))
    return NewStudy(file, (file,))


# How controlled stimuli are presented, in which layouts, and what their plan will count.
#
# Layouts are chosen so that position, label and list can be told apart at no extra call. A part of the set is what a
# measure is taken of: a kind of blank pairs, the equal pairs, one step of a ladder. Its pairs go through the label
# sets and through the four cells of (label of position 1) x (option of position 1) in rounds, and three rounds of
# cells have the tie in every place in every cell. Which of the layouts that a round has left comes next is settled by
# minimisation: the one that has been used least with pairs of the same transform, version, level, task family and so
# on. So no layout goes with any of these, whatever rhythm they come in; a fixed rotation always shares its period
# with one of them.
#
# Both orders of a pair, both versions of a crossed pair, all variants and all repeats share one layout: what
# distinguishes them is never the layout. So a judge that does not read the task gets the same question twice.


CELLS = "crossed/3"
"""Part of a run's id: another rule asks other questions."""

LAYOUTS = tuple(
    Layout(labels=labels, labels_swapped=first, options_swapped=second, tie_place=place)
    for place, labels, first, second in product(range(TIE_PLACES), LABEL_SETS, (False, True), (False, True))
)
"""Every layout there is."""

_CELL = ("labels_swapped", "options_swapped")
_SINGLE = (*((name,) for name in _CELL), ("labels",), _CELL, ("tie_place",))
_CROSSED = ((*_CELL, "tie_place"), *(two for two in combinations(("labels", *_CELL, "tie_place"), 2) if two != _CELL))

_TIE = len(_SINGLE) - 1
# Both signs of a cell are turned round from one pair to the next, so that two pairs of one task tell the label and the
# list from whatever the task does to the positions.
_IN_ROUNDS = [*range(_TIE), len(_SINGLE)]

_OWN_WEIGHT = 4
"""How much more the balance of a part counts than that of each group of like pairs."""


def _numbered(factors: Iterable[tuple[str, ...]]) -> NDArray[np.int64]:
    """Returns a row for each layout and a column for each factor: the levels of all columns, numbered through."""
    numbers: dict[object, int] = {}
    return np.array(
        [
            [numbers.setdefault((names, *(getattr(one, name) for name in names)), len(numbers)) for names in factors]
            for one in LAYOUTS
        ]
    )


_LEVELS = _numbered((*_SINGLE, *_CROSSED))


def layouts_of(stimuli: Iterable[Stimulus]) -> Mapping[str, Layout]:
    """Returns the layout of every stimulus, by its id. It depends on the order of the set, and on nothing else."""
    return _layouts_of(tuple(stimuli))


# A run that asks in rounds wants those of the same set before and after each.
@lru_cache(maxsize=1)
def _layouts_of(stimuli: tuple[Stimulus, ...]) -> Mapping[str, Layout]:
    balance, chosen, layouts = _Balance(), dict[tuple[str, str], Layout](), dict[str, Layout]()
    for stimulus in stimuli:
        shown = stimulus.family, stimulus.crossed_pair or stimulus.id
        if shown not in chosen:
            chosen[shown] = balance.next(stimulus)
        layouts[stimulus.id] = chosen[shown]
    return layouts


_Group = tuple[object, ...]


def _part(stimulus: Stimulus) -> _Group:
    # Each kind of blank pair is looked at by itself. Other strata are many and small, and go together.
    return stimulus.family, stimulus.stratum if stimulus.family == Family.BLANK else stimulus.delta


class _Balance:
    """Chooses among the layouts that are due in a part, by minimisation (Pocock and Simon, Biometrics 31, 1975)."""

    def __init__(self) -> None:
        self._numbers = Counter[_Group]()
        self._used: defaultdict[_Group, NDArray[np.int64]] = defaultdict(
            lambda: np.zeros(_LEVELS.max() + 1, dtype=np.int64)
        )

    def next(self, stimulus: Stimulus) -> Layout:
        """Returns the layout of the next pair or crossed pair of the set."""
        own, others = self._used[_part(stimulus)], [self._used[group] for group in self._like(stimulus)]
        rounds, ties = own[_LEVELS[:, _IN_ROUNDS]], own[_LEVELS[:, _TIE]]
        due = (rounds == rounds.min(axis=0)).all(axis=1)
        due &= ties == ties[due].min()
        cost = _OWN_WEIGHT * own[_LEVELS].sum(axis=1)
        for used in others:
            cost += used[_LEVELS[:, : len(_SINGLE)]].sum(axis=1)
        place = int(np.flatnonzero(due)[cost[due].argmin()])
        for used in (own, *others):
            used[_LEVELS[place]] += 1
        return LAYOUTS[place]

    def _like(self, stimulus: Stimulus) -> Iterator[_Group]:
        """Yields what a pair is, besides of its part: what no layout is to go with."""
        part = _part(stimulus)
        number = self._numbers[part]
        self._numbers[part] += 1
        # Over the whole set, so that parts do not all begin with the same layout.
        yield ("set",)
        yield "task", stimulus.family, stimulus.cluster
        yield "stratum", *part, stimulus.stratum
        yield "level", *part, stimulus.base
        # Families, domains and languages that come in every second task have no name here.
        yield "turn", *part, number % 2
        if not stimulus.crossed_pair:
            yield "version", *part, stimulus.version


PROBED = (Family.EQUAL, Family.GRADED)
"""The families whose steps a probe can choose: equal pairs, which are step 0, and the ladder."""


@dataclass(frozen=True)
class DatasheetDesign(Design):
    """Every stimulus in every variant and repeat, in both orders, each in a layout where the prompt leaves it open."""

    crossed: tuple[str, ...] = ()
    """The variants whose layout is varied."""
    steps: Mapping[str, tuple[float, ...]] = field(default_factory=dict, hash=False)
    """Maps a probe to the steps at which it is asked; every other variant is asked about everything."""
    sampling: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Maps a variant to the parameters of sampling that it is asked with, as JSON."""
    until: str = "asked"
    """`decided` if it asks in rounds."""
    seed: int = 1
    """Draws the rounds."""
    layouts: Mapping[str, Layout] = field(default_factory=dict, repr=False, hash=False)
    """The layout of each stimulus, by its id; a stimulus without one is shown as the prompt has it."""

    def as_json(self) -> Json:
        # Left out where nothing is varied, so that such a design keeps its id.
        steps: dict[str, Json] = {variant: sorted(steps) for variant, steps in self.steps.items()}
        crossed: dict[str, Json] = {"crossed": self.crossed, "cells": CELLS} if self.crossed else {}
        probes: dict[str, Json] = {"steps": steps} if steps else {}
        rounds: dict[str, Json] = {"until": self.until} if self.until == "decided" else {}
        sampled: dict[str, Json] = {"sampling": dict(self.sampling)} if self.sampling else {}
        return {"repeats": self.repeats, "variants": self.variants, **crossed, **probes, **sampled, **rounds}

    def asked_first(self, stimuli: Iterable[Stimulus]) -> Collection[str] | None:
        return next_round(stimuli, Place(self.seed)) if self.until == "decided" else None

    def over(self, stimuli: Iterable[Stimulus]) -> "DatasheetDesign":
        chosen = list(stimuli) if self.steps else stimuli
        for variant, steps in self.steps.items():
            there = {stimulus.delta or 0.0 for stimulus in chosen if stimulus.family in PROBED}
            if missing := set(steps) - there:
                known = ", ".join(f"{step:g}" for step in sorted(there))
                raise UsageError(
                    f"prompt variant {variant}: no pair has a difference of {min(missing):g}",
                    fix=f"choose from {known}",
                )
        return replace(self, layouts=layouts_of(chosen)) if self.crossed else self

    def most_ways(self) -> int:
        return len(self.variants) * self.repeats * len(Order)

    def presentations(
        self, stimulus: Stimulus, capabilities: Capabilities, kind: JudgeKind = "compare"
    ) -> Iterator[Presentation]:
        if not is_shown(stimulus, kind):
            return iter(())
        layout = self.layouts.get(stimulus.id)
        ways = super().presentations(stimulus, capabilities, kind)
        asked = (way for way in ways if way.variant not in self.steps or _is_of(stimulus, self.steps[way.variant]))
        return (
            replace(
                way,
                layout=layout if way.variant in self.crossed else None,
                sampling=self.sampling.get(way.variant, ""),
            )
            for way in asked
        )


def is_shown(stimulus: Stimulus, kind: JudgeKind) -> bool:
    """Whether a judge gets to see a stimulus: two identical blanks are pointless to one that sees one answer."""
    return kind == "compare" or stimulus.family != "blank" or stimulus.stratum != "identical"


def _is_of(stimulus: Stimulus, steps: Collection[float]) -> bool:
    return stimulus.family in PROBED and (stimulus.delta or 0.0) in steps


STRATA = TIER_2 | {Family.CONFLICT, Family.FINE}
"""The families whose parts a measure is about."""


@dataclass(slots=True)
class PlannedTallies(PlannedCounts):
    """The trials of a whole plan, counted as if each had been answered by a judge that ties on everything."""

    kind: JudgeKind
    calls: Counter[tuple[str, str, str, str, float | None]] = field(default_factory=Counter)
    vacuum: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    pairs: dict[tuple[str, str, str, float, str], dict[str, set[Order]]] = field(default_factory=dict)
    """The orders of each stimulus: a pair counts once, however often it is repeated. Without strata, which would make a
    long table, except for the edits of tier 2, which share no measure."""
    quads: dict[tuple[str, str, str, str, float], dict[str, set[tuple[str, Order]]]] = field(default_factory=dict)
    """The versions and orders of each crossed pair."""
    prompts: set[str] = field(default_factory=set)
    """Vacuum prompts seen: each counts once, however often it is repeated."""

    def add(self, trial: Trial, stimulus: Stimulus) -> None:
        task, variant, family = stimulus.cluster, trial.presentation.variant, stimulus.family
        self.calls[task, variant, family, stimulus.stratum, stimulus.delta] += 1
        if family != "blank":
            order, delta = trial.presentation.order, stimulus.delta or 0.0
            stratum = stimulus.stratum if family in STRATA else ""
            pairs = self.pairs.setdefault((task, variant, family, delta, stratum), {})
            pairs.setdefault(trial.stimulus_id, set()).add(order)
            if stimulus.crossed_pair:
                quads = self.quads.setdefault((task, variant, family, stratum, delta), {})
                quads.setdefault(stimulus.crossed_pair, set()).add((stimulus.version, order))
        elif trial.prompt_id not in self.prompts:
            self.prompts.add(trial.prompt_id)
            self.vacuum[task, variant, stimulus.stratum] += 1

    def tallies(self) -> Tallies:
        vacuum = tuple(VacuumTally(*key, count, 0.0, 0) for key, count in self.vacuum.items())
        if self.kind == "grade":
            return Tallies(
                vacuum=vacuum,
                calls=tuple(CallTally(*key, planned=count, graded=count) for key, count in self.calls.items()),
                grade_pairs=tuple(
                    GradePairTally(task, variant, family, stratum, delta, both, equal=both, incomplete=lost)
                    for task, variant, family, delta, stratum, both, lost in self._pairs()
                ),
            )
        return Tallies(
            vacuum=vacuum,
            calls=tuple(CallTally(*key, planned=count, tie=count) for key, count in self.calls.items()),
            pairs=tuple(
                PairTally(
                    task,
                    variant,
                    family,
                    delta,
                    both,
                    no_preference=both,
                    tie_calls=2 * both,
                    incomplete=lost,
                    stratum=stratum,
                )
                for task, variant, family, delta, stratum, both, lost in self._pairs()
            ),
            quads=tuple(self._quads()),
        )

    def _pairs(self) -> Iterator[tuple[str, str, str, float, str, int, int]]:
        """Yields the key of each tally, how many of its pairs are asked in both orders, and how many in one only."""
        for key, stimuli in self.pairs.items():
            both = sum(len(orders) == 2 for orders in stimuli.values())
            yield *key, both, len(stimuli) - both

    def _quads(self) -> Iterator[QuadTally]:
        for key, quads in self.quads.items():
            whole = sum(len(shown) == 4 for shown in quads.values())
            yield QuadTally(*key, whole, neither=whole, incomplete=len(quads) - whole)


JURY = JuryTerms(
    of="task families",
    about="The results are about constructed answers. On other answers, judges may err together more or less often.",
    hears=lambda _, stimulus: stimulus.family not in TIER_2,
    # No grade is right by construction, only which of two answers is better.
    kinds=("compare",),
)
