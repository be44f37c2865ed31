"""A run that Inspect asks: planned here as every run is, asked by Inspect's samples, measured by the same code.

A sample is a trial, by its id. Repeats are samples too, never epochs, whose scores Inspect would merge into one number.
The answers travel in the scores of Inspect's log. The metric takes them from there, puts them into the run's journal,
and measures the run. So the run can be reread, compared and exported like any other.
"""

import secrets
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, Model, ModelOutput, get_model
from inspect_ai.scorer import SampleScore, Score

from umpirical.api.options import FOLDER, DatasheetKeywords, StressKeywords
from umpirical.api.studies import datasheet_study, stress_study
from umpirical.domain.errors import StoreError, UsageError
from umpirical.domain.responses import Response, Usage
from umpirical.domain.trials import Trial
from umpirical.integrations.inspect.calls import ask, asked_parameters, chat_messages, generate_config
from umpirical.integrations.inspect.model import OWN_ARGUMENTS
from umpirical.integrations.inspect.samples import metrics, planned, score_of, trial_metadata, undefined
from umpirical.judges.factory import build_renderer
from umpirical.judges.judge import prompt_id
from umpirical.models.caller import CallFailed
from umpirical.models.recording import Recording, environment_secrets
from umpirical.models.requests import ChatRequest
from umpirical.models.spec import ModelSpec
from umpirical.protocols.protocol import AsksInRounds, Study
from umpirical.runs.judgments import Reader, reader_of
from umpirical.runs.plan import request_for
from umpirical.runs.run import Run, open_run
from umpirical.store.lock import one_at_a_time
from umpirical.store.schemas import response_from_row, response_row
from umpirical.store.snapshots import snapshot
from umpirical.store.yaml_files import load_yaml
from umpirical.study.file import judge_name, read_judge, read_study
from umpirical.study.prepare import PlanOptions, prepare_run
from umpirical.study.results import finished_run
from umpirical.study.trust import agree_if, ensure_trusted, note_run

NOT_ASKED = frozenset(
    {"max_retries", "timeout", "attempt_timeout", "stream_idle_timeout", "max_connections", "adaptive_connections"}
    | {"cache", "cache_prompt", "batch", "extra_headers", "fail_on_refusal"}
)
"""Settings of Inspect that change how a call is made, and not what is asked."""

_hosted: dict[str, "HostedRun"] = {}


@dataclass
class HostedRun:
    """A run that the samples of an Inspect task ask."""

    run: Run
    requests: Mapping[str, ChatRequest] = field(default_factory=dict)
    """What is sent for each trial; empty for a run that is only measured again."""
    summary: dict[str, Any] = field(default_factory=dict)
    """What was found, as far as it is no number. Inspect keeps it in the metadata of its log."""

    def samples(self) -> MemoryDataset:
        """Returns the trials, each once: several stimuli may share one question."""
        samples = [
            Sample(input=chat_messages(request), id=trial_id, metadata=self._metadata[trial_id])
            for trial_id, request in self.requests.items()
        ]
        return MemoryDataset(samples, name=self.run.name, location=str(self.run.folder))

    async def ask(self, model: Model, trial_id: str, *, epoch: int) -> tuple[ModelOutput | None, dict[str, Any]]:
        """Asks one trial; returns Inspect's output, if there is one, and the response as a row."""
        if epoch > 1:
            raise UsageError(
                "a second epoch would ask the same trials again", fix="use -T repeats=N instead of --epochs"
            )
        if (request := self.requests.get(trial_id)) is None:
            raise UsageError(
                "the samples belong to a different task", fix="start the task by its name, umpirical/datasheet"
            )
        installed, start, asked_at = version("inspect-ai"), time.perf_counter(), datetime.now(UTC).isoformat()
        config = generate_config(request)
        headers = {"X-Client-Request-Id": trial_id}
        asked = await ask(
            model, chat_messages(request), config.model_copy(update={"extra_headers": headers}), installed
        )
        if asked.config is not None:
            _refuse_additions(config, asked.config)
        try:
            reply = asked.reply()
        except CallFailed as failed:
            answer = Response(trial_id, None, failed.kind, failed.detail, usage=failed.usage or Usage())
        else:
            answer = Response(
                trial_id,
                reply.text,
                finish_reason=reply.finish_reason,
                usage=reply.usage or Usage(),
                logprobs=reply.logprobs,
                served_by=f"{reply.served_by} inspect-ai {installed}".strip(),
            )
        recording = _recording(model.api.api_key or "")
        row = response_row(recording.keep(answer, request.decoding))
        return asked.output, row | {
            "sent": recording.repeated(asked.sent or asked_parameters(request, installed)),
            "latency_ms": (time.perf_counter() - start) * 1000,
            "asked_at": asked_at,
        }

    def score(self, trial_id: str, row: Mapping[str, Any] | None) -> Score:
        """Returns what a response says. A sample that a limit of Inspect's ended has none."""
        if row is None:
            return Score(value="unasked", explanation="the sample ended before the judge was called")
        response = response_from_row(row)
        outcome = self._read(response, self._plan[trial_id][0].presentation)
        return score_of(outcome, response, metadata={"response": dict(row)})

    def measure(self, scores: Sequence[SampleScore]) -> dict[str, float]:
        self._take(scores)
        finished = finished_run(self.run.folder)
        self.summary.clear()
        self.summary.update({**finished.summary(), "run": str(finished.folder), "undefined": undefined(finished)})
        return metrics(finished)

    def _take(self, scores: Sequence[SampleScore]) -> None:
        """Puts the answers that are new into the run's journal."""
        names = [str(score.sample_id) for score in scores]
        if len(set(names)) != len(names):
            raise UsageError("a trial appears in several epochs", fix="use -T repeats=N instead of --epochs")
        answers = [_answer(name, score.score.metadata) for name, score in zip(names, scores, strict=True)]
        found = [answer for answer in answers if answer is not None]
        if unknown := [answer.trial_id for answer in found if answer.trial_id not in self._plan]:
            raise StoreError(f"trial {unknown[0]} is not in the plan of {self.run.folder}", fix="use a log of this run")
        with self.run.store.locked():
            new = self._unknown(found)
            journal = self.run.store.open_journal()
            try:
                journal.commit((self._plan[answer.trial_id][1], 0, answer) for answer in new)
            finally:
                journal.close()

    def _unknown(self, answers: Sequence[Response]) -> list[Response]:
        """Returns what the run does not have yet. Raises StoreError for another answer than the one that it has."""
        with snapshot(self.run.store) as now:
            known = {trial_id: response for _, found in now.walk() for trial_id, response in found.items()}
        for answer in answers:
            if (before := known.get(answer.trial_id)) is not None and before != answer:
                raise StoreError(
                    f"the run and the log have different answers to trial {answer.trial_id}",
                    fix="use the original log, with the run named in its metadata",
                )
        return [answer for answer in answers if answer.trial_id not in known]

    @cached_property
    def _plan(self) -> dict[str, tuple[Trial, int]]:
        store, found = self.run.store, dict[str, tuple[Trial, int]]()
        for shard in range(self.run.shards):
            elsewhere = store.asked_elsewhere(shard)
            for trial, _ in store.plan_shard(shard):
                if trial.id not in elsewhere:
                    found.setdefault(trial.id, (trial, shard))
        return found

    @cached_property
    def _metadata(self) -> dict[str, dict[str, Any]]:
        return {trial.id: trial_metadata(trial, stimulus) for trial, stimulus in reversed(list(planned(self.run)))}

    @cached_property
    def _read(self) -> Reader:
        return reader_of(self.run.judge)


def host(study: Study[Any]) -> HostedRun:
    """Plans a run of the study's judge in a folder of its own: two evaluations at a time never share one."""
    if isinstance(study.protocol, AsksInRounds):
        study = study.protocol.at_once(study)
    [judge] = study.spec.judges
    made = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"
    place = study.folder.resolve() / "runs" / f"{judge.name[:40]}-inspect-{made}"
    with one_at_a_time(study.folder):
        note_run(study.folder, place.name)
        run = prepare_run(study, judge, options=PlanOptions(folder=place, fresh=True))
    judge_of_run = build_renderer(run.judge)
    assert judge_of_run is not None  # noqa: S101  # it is a model
    requests: dict[str, ChatRequest] = {}
    for trial, stimulus in planned(run):
        if trial.id not in requests:
            request = request_for(judge_of_run, stimulus, trial.presentation)
            assert isinstance(request, ChatRequest)  # noqa: S101  # likewise
            if prompt_id(request) != trial.prompt_id:
                raise StoreError(
                    "the judge or its test cases changed while the run was being planned", fix="start the run again"
                )
            requests[trial.id] = request
    hosted = _hosted[str(run.folder)] = HostedRun(run, requests)
    hosted.summary["run"] = str(run.folder)
    return hosted


def hosted_run(folder: str) -> HostedRun:
    """Returns a run that this process hosts, or one on disk, to be measured again from a log."""
    if folder not in _hosted:
        _hosted[folder] = HostedRun(open_run(Path(folder)))
    return _hosted[folder]


@cache
def _recording(key: str) -> Recording:
    """Returns what takes the model's key, and what else is secret in the environment, out of responses."""
    return Recording(filter(None, (key, *environment_secrets())))


def _refuse_additions(said: GenerateConfig, sent: GenerateConfig) -> None:
    """Raises if a setting of Inspect's was added to what was planned: it would be another judge, and not say so."""
    for name, value in sent.model_dump(exclude_none=True).items():
        if name not in NOT_ASKED and getattr(said, name) is None and name != "max_tokens":
            raise UsageError(
                f"Inspect sent {name}={value}, which is not a setting of the judge",
                fix="remove the setting, or set it in a judge file (-T judge=)",
            )


def _answer(trial_id: str, metadata: Mapping[str, Any] | None) -> Response | None:
    """Returns the response in a score; None if the trial was not asked. Raises StoreError if it is another trial's."""
    row = (metadata or {}).get("response")
    if row is None:
        return None
    if row["trial_id"] != trial_id:
        raise StoreError(f"sample {trial_id} contains the response to another trial", fix="use the original log")
    return response_from_row(row)


# Studies from the parameters of an Inspect task. The model is the one that Inspect was told to evaluate.


Design = Mapping[str, Any]
"""What the parameters of a task say about what is asked; None or empty for what they leave open."""


def hosted_datasheet(judge: str | None, *, design: Design, policy: str, trust: bool) -> Study[Any]:
    """Returns a study of the evaluated model on controlled stimuli."""
    options = DatasheetKeywords(
        folder=_folder(design, judge),
        trust=trust,
        size=str(design["size"] or "standard"),
        policy=policy,
        variants=_words(design["variants"]),
        **_given(design, "repeats", "seed"),
    )
    study = datasheet_study([_entry(judge)], options)
    return replace(study, commands=_commands(study))


def hosted_stress(
    judge: str | None,
    data: str | None,
    *,
    texts: Mapping[str, Any],
    columns: Mapping[str, Any],
    design: Design,
    trust: bool,
) -> Study[Any]:
    """Returns a study of the evaluated model on changed versions of the user's data."""
    if data is None:
        raise UsageError("a stress test needs data", fix="add -T data=FILE or -T study=FOLDER")
    options = StressKeywords(
        folder=_folder(design, judge),
        trust=trust,
        tests=None if design["tests"] is None else _words(design["tests"]),
        **texts,
        **columns,
        **_given(design, "repeats", "sample", "seed"),
    )
    study = stress_study(_entry(judge), data, options)
    return replace(study, commands=_commands(study))


def hosted_study(
    place: str, protocol: str, *, judge: str | None, design: Design, policy: str = "", trust: bool
) -> Study[Any]:
    """Returns a study file's study of one of its judges, with the evaluated model in place of the judge's own."""
    if said := [name for name, value in design.items() if value not in (None, (), [], "")]:
        raise UsageError(f"{said[0]} is set by the study file", fix=f"remove -T {said[0]}=")
    study = read_study(Path(place))
    if study.protocol.name != protocol:
        raise UsageError(
            f"{place} is a study for protocol {study.protocol.name}", fix=f"umpirical/{study.protocol.name}"
        )
    if judge is None and len(study.spec.judges) > 1:
        known = ", ".join(each.name for each in study.spec.judges)
        raise UsageError("the study has several judges", fix=f"choose one with -T judge=NAME: {known}")
    chosen = study.spec.judges[0] if judge is None else study.judge(judge)
    if chosen.model is None:
        raise _no_model(chosen.name)
    asked = chosen.model_copy(update={"model": ModelSpec.model_validate(_model_entry())})
    study = replace(study, spec=study.spec.model_copy(update={"judges": [asked]}), policy=policy)
    ensure_trusted(study, agree_if(trust=trust), named=[asked.name])
    return replace(study, commands=_commands(study))


def _entry(judge: str | None) -> dict[str, Any]:
    """Returns the judge as an entry of a study file: what its file says, and the evaluated model."""
    model = _model_entry()
    if judge is None:
        return {"name": judge_name(model["name"]), "model": model}
    if not judge.endswith((".yaml", ".yml")):
        raise UsageError(
            f"{judge} is not a judge file",
            fix="use -T judge=judge.yaml. The model comes from --model, and a study needs -T study=",
        )
    entry = read_judge(load_yaml(Path(judge)), Path(judge).stem)
    if entry.keys() & {"callable", "exec", "http", "promptfoo"}:
        raise _no_model(judge)
    return {**entry, "model": model}


def _no_model(judge: str) -> UsageError:
    return UsageError(f"{judge} is not a model, and Inspect can only call models", fix="use umpirical datasheet")


def _model_entry() -> dict[str, Any]:
    model = get_model()
    if str(model) == "none/none":
        raise UsageError("there is no model to evaluate", fix="add --model provider/model")
    address = model.api.base_url
    return {
        "adapter": "inspect",
        "name": str(model),
        **({"base_url": address} if address else {}),
        "model_args": _arguments(model),
    }


def _arguments(model: Model) -> dict[str, Any]:
    plain = {name: value for name, value in model.model_args.items() if isinstance(value, str | int | float | bool)}
    return {name: value for name, value in plain.items() if name not in OWN_ARGUMENTS}


def _commands(study: Study[Any]) -> dict[str, str]:
    """Returns how to measure again; the parameters are in Inspect's log."""
    task = f"umpirical/{study.protocol.name}"
    return {
        judge.name: f"inspect eval {task} --model {shlex.quote(judge.model.name)}"
        for judge in study.spec.judges
        if judge.model is not None
    }


def _folder(design: Design, judge: str | None) -> Path:
    """Returns where the run goes: as the person says, or beside the judge file, which names its prompts from there."""
    beside = FOLDER if judge is None else Path(judge).parent
    return Path(design["folder"] or beside).resolve()


def _words(said: str | Sequence[str]) -> list[str]:
    return [word.strip() for word in said.split(",") if word.strip()] if isinstance(said, str) else list(said)


def _given(design: Design, *names: str) -> dict[str, Any]:
    return {name: design[name] for name in names if design[name] is not None}
