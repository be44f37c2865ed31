"""The datasheet protocol."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from umpirical.domain.digests import Json
from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Measure
from umpirical.domain.stimuli import GateResult, Stimulus
from umpirical.domain.trials import BASELINE
from umpirical.judges.judge import Judge
from umpirical.judges.layout import crossed_variants
from umpirical.judges.prompt import resolve_prompts
from umpirical.judges.spec import JudgeSpec
from umpirical.measures.contrasts import contrasts_between
from umpirical.protocols.datasheet.counting import FACTS, tally_judgments
from umpirical.protocols.datasheet.more import can_settle, follow_up, how_far, names_of, undecided
from umpirical.protocols.datasheet.page import render_html, render_markdown
from umpirical.protocols.datasheet.record import Datasheet, datasheet_schema
from umpirical.protocols.datasheet.report import (
    ReadRun,
    datasheet_of_read,
    held_to,
    policy_of,
    read_run,
    recounted,
    shared_tallies,
)
from umpirical.protocols.datasheet.spec import (
    JURY,
    PRESETS,
    SHELF,
    DatasheetDesign,
    DatasheetDesignSpec,
    DatasheetSpec,
    DatasheetStudy,
    PlannedTallies,
    VariantSpec,
    chosen_policy,
    policy_schema,
    preset,
    start_study,
)
from umpirical.protocols.datasheet.stimuli import (
    build_stimuli,
    check_recipe,
    chosen_own_answers,
    made_again,
    recipe_of,
    write_stimulus_set,
)
from umpirical.protocols.datasheet.tiles import tiles
from umpirical.protocols.protocol import (
    CALL_MEASURES,
    AsksInRounds,
    CombinesJudges,
    DecidesByPolicy,
    EarlyMeasures,
    FollowsUp,
    FollowUp,
    HoldsToChecks,
    MakesAgain,
    NewStudy,
    PlannedCounts,
    Protocol,
    Round,
    Study,
    StudyCheck,
)
from umpirical.reports.policy import Policy
from umpirical.reports.tiles import Tile
from umpirical.runs.judgments import Reading
from umpirical.runs.plan import Design
from umpirical.runs.run import Run
from umpirical.stimuli.controlled.datasheet_set import DECIDED, LARGEST, STANDARD
from umpirical.stimuli.controlled.gates import both_orders, refuse_unsound
from umpirical.store.stimulus_sets import StimulusSet


class DatasheetProtocol(
    Protocol[DatasheetStudy, Datasheet],
    CombinesJudges[Datasheet],
    DecidesByPolicy[Datasheet],
    HoldsToChecks[Datasheet],
    AsksInRounds,
    FollowsUp[Datasheet],
    MakesAgain,
):
    """Tests judges on built-in test cases: blank inputs, equal pairs, graded pairs, both orders, prompt variants."""

    name = "datasheet"
    version = "umpirical-datasheet/2"
    spec = DatasheetSpec
    record = Datasheet
    policies, shelf = PRESETS, SHELF
    facts = FACTS
    jury = JURY
    answer_key = "umpirical.protocols.datasheet.stimuli:answer_key"

    def open(self, spec: DatasheetSpec, folder: Path, *, outside: bool) -> DatasheetStudy:
        chosen_policy(spec.policy, folder)
        judges = [
            _at_temperatures(resolve_prompts(judge, folder, spec.design.prompts), spec.design.temperatures)
            for judge in spec.judges
        ]
        # The command that reproduces a run needs the option too.
        commands = {judge.name: f"umpirical run --outside --judge {judge.name}" for judge in judges} if outside else {}
        return Study(folder, spec.model_copy(update={"judges": judges}), self, commands)

    def check(self, study: DatasheetStudy) -> StudyCheck:
        stimuli, gates = build_stimuli(
            study, study.spec.design.size, seed=study.spec.seed, own_answers=chosen_own_answers(study)
        )
        blocked = [gate for gate in gates if gate.blocks and not gate.passed]
        problems = [f"gate {gate.name}: found {gate.found}, allowed {gate.allowed}" for gate in blocked]
        return StudyCheck(problems=problems, gates=gates, stimuli=stimuli)

    def stimuli(self, study: DatasheetStudy) -> StimulusSet:
        # Nobody waits for test cases to learn that a policy is misspelt.
        _held_to(study)
        return write_stimulus_set(study)

    def admit(self, judge: JudgeSpec) -> None:
        if judge.scale is not None and judge.scale.kind == "nominal":
            raise UsageError(f"judge {judge.name}: a datasheet needs ordered labels", fix="use an ordinal scale")

    def design(self, study: DatasheetStudy, judge: JudgeSpec) -> Design:
        return DatasheetDesign(
            repeats=study.spec.design.repeats,
            variants=tuple(judge.prompts) or ("baseline",),
            crossed=crossed_variants(judge) if study.spec.design.layout == "varied" else (),
            steps={variant: steps for variant, steps in study.spec.design.steps.items() if variant in judge.prompts},
            sampling={
                variant: json.dumps({"temperature": temperature})
                for variant, temperature in study.spec.design.temperatures.items()
                if variant in judge.prompts
            },
            until=study.spec.design.until,
            seed=study.spec.seed,
        )

    def gates(self, judge: Judge, stimuli: StimulusSet, design: Design) -> list[GateResult]:
        """Checks that both orders of every pair are in the plan, unless the judge cannot be shown both."""
        if judge.kind == "compare" and not judge.capabilities.order_controllable:
            return []
        ways = ((s, way) for s in stimuli for way in design.presentations(s, judge.capabilities, judge.kind))
        gates = [both_orders(ways)]
        refuse_unsound(gates)
        return gates

    def about(self, study: DatasheetStudy, design: Design) -> dict[str, Json]:
        spec = study.spec
        about: dict[str, Json] = {
            "policy": _held_to(study).model_dump(mode="json"),
            "graded": spec.design.graded,
            "own_tasks": spec.tasks,
        }
        if spec.design.until == "decided":
            about |= {"until": "decided"}
        if spec.design.layout == "fixed":
            about |= {"layout": "fixed"}
        if spec.design.temperatures:
            about |= {"temperatures": dict(spec.design.temperatures)}
        steps = design.steps if isinstance(design, DatasheetDesign) else {}
        return about | ({"steps": {variant: list(each) for variant, each in steps.items()}} if steps else {})

    def next_round(self, run: Run) -> Round:
        if run.manifest.get("until") != "decided":
            return Round()
        sheet = datasheet_of_read(read_run(run), only=names_of(policy_of(run)))
        following = undecided(run, sheet, most=run.most_trials)
        return Round(following, how_far(sheet), capped=not following and bool(undecided(run, sheet)))

    def design_of(self, run: Run) -> Design:
        return self.design(self._study_of(run), run.judge).over(run.stimuli)

    def at_once(self, study: DatasheetStudy) -> DatasheetStudy:
        design = study.spec.design
        if design.until == "asked":
            return study
        fixed = design.model_copy(update={"size": STANDARD, "until": "asked"})
        return replace(study, spec=study.spec.model_copy(update={"design": fixed}))

    def settles(self, record: Datasheet) -> bool:
        return can_settle(record)

    def more(self, run: Run, record: Datasheet) -> FollowUp:
        return follow_up(run, record, self._study_of(run))

    def _study_of(self, run: Run) -> DatasheetStudy:
        """Returns a study of the largest size that a run may have been planned by."""
        manifest = run.manifest
        steps, temperatures = manifest.get("steps", {}), manifest.get("temperatures", {})
        design = DatasheetDesignSpec(
            size=DECIDED if manifest.get("until") == "decided" else LARGEST,
            until=manifest.get("until", "asked"),
            graded=manifest["graded"],
            layout=manifest.get("layout", "varied"),
            repeats=manifest["repeats"],
            variants={
                name: VariantSpec(steps=steps.get(name), temperature=temperatures.get(name))
                for name in manifest["variants"]
            },
        )
        spec = DatasheetSpec(
            study=manifest["study"],
            seed=manifest["seed"],
            judges=[run.judge],
            tasks=manifest.get("own_tasks"),
            design=design,
        )
        return Study(run.call.folder, spec, self)

    def planned(self, judge: JudgeSpec) -> PlannedCounts:
        return PlannedTallies(judge.kind)

    def early(self) -> EarlyMeasures:
        return EarlyMeasures(
            FACTS, tally_judgments, ("dark-current", "slot-1-rate", "slot-2-rate", "target-sensitivity", *CALL_MEASURES)
        )

    def report(self, run: Run) -> Datasheet:
        return datasheet_of_read(read_run(run))

    def recounted(self, record: Datasheet, judgments: Path, judge: JudgeSpec) -> Datasheet:  # noqa: ARG002
        return recounted(record, judgments)

    def recipe(self, run: Run) -> Mapping[str, Json] | None:
        return recipe_of(run)

    def made_again(self, recipe: Mapping[str, Any]) -> Iterable[Stimulus]:
        check_recipe(recipe)
        # Nobody is asked: a study needs a judge all the same.
        judge = JudgeSpec.model_validate({"name": "none", "model": {"adapter": "simulated", "name": "careful"}})
        design = DatasheetDesignSpec.model_validate({name: recipe.get(name) for name in ("size", "graded")})
        spec = DatasheetSpec(study="again", seed=recipe["seed"], judges=[judge], tasks=recipe["tasks"], design=design)
        return made_again(Study(Path(), spec, self))

    def of_judgments(self, run: Run, reading: Reading) -> Datasheet:
        return datasheet_of_read(ReadRun(run, reading, [], tally_judgments(reading.judgments, run.judge.kind)))

    def page(self, record: Datasheet) -> str:
        return render_html(record)

    def card(self, record: Datasheet) -> str:
        return render_markdown(record)

    def tiles(self, record: Datasheet) -> Sequence[Tile]:
        return tiles(record)

    def schema(self) -> str:
        return datasheet_schema()

    def hold(self, record: Datasheet, policy: str | Mapping[str, Any]) -> Datasheet:
        return held_to(record, chosen_policy(policy, Path(), outside=True))

    def policy_of(self, record: Datasheet) -> Policy:
        return record.policy or preset()

    def as_published(self, record: Datasheet, published: Datasheet) -> Datasheet:
        # How often one has looked is a fact about the run, whatever was published.
        return held_to(record, self.policy_of(published).at_look(self.policy_of(record).look))

    def differences(self, before: Run, now: Run) -> Iterable[Measure]:
        first, second, _ = shared_tallies(read_run(before), read_run(now))
        for variant in first.variants():
            yield from (contrast.measure for contrast in contrasts_between(first, second, variant, variant))

    def policy_schema(self) -> str:
        return policy_schema()

    def start(self, folder: Path) -> NewStudy:
        return start_study(folder)


def _at_temperatures(judge: JudgeSpec, temperatures: Mapping[str, float]) -> JudgeSpec:
    """Adds a variant with the judge's own prompt for each temperature. Only a model that compares has temperatures."""
    if judge.model is None or judge.kind != "compare" or not temperatures:
        return judge
    if taken := [name for name in temperatures if name in judge.prompts]:
        raise UsageError(
            f"judge {judge.name} has a prompt for {taken[0]}, which is a variant with a temperature",
            fix="rename the variant",
        )
    if same := [name for name, each in temperatures.items() if each == judge.decoding.temperature]:
        raise UsageError(
            f"prompt variant {same[0]} has the temperature that judge {judge.name} has anyway",
            fix="choose another temperature, or set the judge's own in its decoding",
        )
    own = judge.prompts[BASELINE] if BASELINE in judge.prompts else next(iter(judge.prompts.values()))
    return judge.model_copy(update={"prompts": {**judge.prompts, **dict.fromkeys(temperatures, own)}})


def _held_to(study: DatasheetStudy) -> Policy:
    """Returns the policy that a person named for this run, or else the study's own."""
    if study.policy:
        return chosen_policy(study.policy, study.folder, outside=True)
    return chosen_policy(study.spec.policy, study.folder)


DATASHEET = DatasheetProtocol()
