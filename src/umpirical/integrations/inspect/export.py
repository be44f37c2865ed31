"""A run as a log of Inspect's, written by Inspect's own writer, for `inspect view` and for whoever reads such logs."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from umpirical.domain.errors import UsageError
from umpirical.domain.judgments import Failed, Outcome
from umpirical.domain.responses import Response
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.transcripts import Message, Transcript, transcript_from_text
from umpirical.domain.trials import Trial
from umpirical.judges.factory import build_renderer
from umpirical.judges.judge import Judge
from umpirical.models.requests import ChatRequest
from umpirical.reports.record import EstimateRecord
from umpirical.runs.judgments import reader_of
from umpirical.runs.plan import request_for, shown
from umpirical.runs.run import Run, open_run
from umpirical.store.snapshots import snapshot
from umpirical.study.results import FinishedRun, finished_run
from umpirical.text.inert import plain_address

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalResults, EvalSample, EvalSpec, EvalStats
    from inspect_ai.model import ChatMessage, ModelOutput


MOST_SAMPLES = 50_000
"""Inspect writes a log from memory, and its viewer reads it into that of a browser."""

STOP_REASONS = {"length": "max_tokens", "content_filter": "content_filter", "stop": "stop"}


def export_run(folder: Path, out: Path) -> tuple[Path, int]:
    """Writes the answers of a run as a log; returns its path and how many samples it has.

    A trial that failed is a sample with an error, and has no score. Trials that were not asked are left out.
    """
    try:
        from inspect_ai.log import write_eval_log
    except ImportError:
        raise UsageError(
            "writing Inspect logs requires the `inspect` extra", fix="pip install 'umpirical[inspect]'"
        ) from None
    if out.suffix not in (".eval", ".json"):
        raise UsageError(f"{out.name}: the name of an Inspect log must end in .eval or .json", fix="use --out run.eval")
    run = open_run(folder)
    if run.trials > MOST_SAMPLES:
        raise UsageError(
            f"{run.trials:,} trials; the limit for an export is {MOST_SAMPLES:,}", fix="export a smaller run"
        )
    log = _log(run, finished_run(folder))
    out.parent.mkdir(parents=True, exist_ok=True)
    write_eval_log(log, str(out))
    return out, len(log.samples or ())


def _log(run: Run, finished: FinishedRun) -> "EvalLog":
    from inspect_ai.log import EvalLog

    samples = list(_samples(run))
    return EvalLog(
        # What is missing was never asked; Inspect has no better word for a run that can be resumed.
        status="success" if finished.record.complete else "cancelled",
        eval=_spec(run, finished, [str(sample.id) for sample in samples]),
        results=_results(finished, samples),
        stats=_stats(samples),
        samples=samples,
    )


def _stats(samples: "list[EvalSample]") -> "EvalStats":
    """Returns from when to when the judge was asked; Inspect shows the time between."""
    from inspect_ai.log import EvalStats

    times = sorted(str(sample.started_at) for sample in samples if sample.started_at)
    if not times:
        return EvalStats()
    return EvalStats(started_at=times[0], completed_at=times[-1])


def _samples(run: Run) -> "Iterator[EvalSample]":
    """Yields a sample for each trial that has a response, once, in the order of the plan."""
    judge, read, done = build_renderer(run.judge), reader_of(run.judge), set[str]()
    with snapshot(run.store) as now:
        for shard, responses in now.walk():
            for trial, part in run.store.plan_shard(shard):
                response = responses.get(trial.id)
                if response is not None and trial.id not in done:
                    done.add(trial.id)
                    stimulus = run.stimuli.part(part)[trial.stimulus_id]
                    outcome = read(response, trial.presentation)
                    yield _sample(run, judge, (trial, stimulus), outcome, response)


def _sample(
    run: Run, judge: Judge | None, asked: tuple[Trial, Stimulus], outcome: Outcome, response: Response
) -> "EvalSample":
    from inspect_ai.log import EvalError, EvalSample

    from umpirical.integrations.inspect.samples import score_of, trial_metadata

    trial, stimulus = asked
    score = score_of(outcome, response, metadata={"sent": response.sent, "served_by": response.served_by})
    error = None
    if isinstance(outcome, Failed):
        error = EvalError(message=score.explanation or outcome.kind, traceback="", traceback_ansi="")
    question, output = _question(run, judge, trial, stimulus), _output(run, response)
    return EvalSample(
        id=trial.id,
        epoch=1,
        input=question,
        target="",
        messages=[*question, *([] if response.text is None else [output.message])],
        output=output,
        scores=None if error else {"verdict": score},
        metadata={**trial_metadata(trial, stimulus), **(score.metadata or {}), "attempts": response.attempts},
        error=error,
        model_usage={output.model: output.usage} if output.usage else {},
        started_at=response.asked_at or None,
        total_time=response.latency_ms / 1000,
    )


def _question(run: Run, judge: Judge | None, trial: Trial, stimulus: Stimulus) -> "list[Any]":
    """Returns the messages that the judge was sent; for the user's own judge, the texts that it was shown."""
    from inspect_ai.model import ChatMessageUser

    from umpirical.integrations.inspect.calls import chat_messages

    if judge is not None:
        request = request_for(judge, stimulus, trial.presentation)
        if isinstance(request, ChatRequest):
            return list(chat_messages(request))
    texts = shown(stimulus, trial.presentation.order, run.judge.kind)
    parts = [f"Task:\n{texts.task}", f"Answer 1:\n{texts.first}"]
    parts += [] if texts.second is None else [f"Answer 2:\n{texts.second}"]
    return [ChatMessageUser(content="\n\n".join(parts))]


def _output(run: Run, response: Response) -> "ModelOutput":
    from inspect_ai.model import ModelOutput, ModelUsage

    name = _model(run)
    if response.text is None:
        return ModelOutput(model=name, error=f"{response.failure}: {response.failure_detail}")
    stopped: Any = STOP_REASONS.get(response.finish_reason, "unknown")
    output = ModelOutput.from_content(name, response.text, stop_reason=stopped)
    counted, usage = (response.usage.input_tokens, response.usage.output_tokens), None
    if None not in counted:
        known = [tokens or 0 for tokens in counted]
        usage = ModelUsage(input_tokens=known[0], output_tokens=known[1], total_tokens=sum(known))
    return output.model_copy(update={"usage": usage, "time": response.latency_ms / 1000})


def _spec(run: Run, finished: FinishedRun, ids: list[str]) -> "EvalSpec":
    from inspect_ai.log import EvalConfig, EvalDataset, EvalSpec
    from inspect_ai.viewer import ViewerConfig

    model = run.judge.model
    return EvalSpec(
        eval_id=run.name,
        run_id=run.name,
        task_id=run.name,
        created=str(run.manifest["created"]),
        task=f"umpirical/{finished.protocol.name}",
        dataset=EvalDataset(name=str(run.manifest.get("study", run.name)), samples=len(ids), sample_ids=ids),
        model=_model(run),
        model_base_url=None if model is None or model.base_url is None else plain_address(model.base_url),
        config=EvalConfig(),
        packages={"umpirical": str(run.manifest["umpirical"])},
        metadata={"umpirical": _summary(finished)},
        # A judge's words, and the texts that it is shown, are a stranger's.
        viewer=ViewerConfig(trust_content=False),
    )


def _results(finished: FinishedRun, samples: "list[EvalSample]") -> "EvalResults":
    from inspect_ai.log import EvalMetric, EvalResults, EvalScore

    from umpirical.integrations.inspect.samples import estimates, metrics

    as_json = TypeAdapter(EstimateRecord).dump_python
    about = {name: as_json(found, mode="json") for name, found in estimates(finished).items()}
    values, done = metrics(finished), sum(sample.error is None for sample in samples)
    score = EvalScore(
        name="verdict",
        scorer="verdict",
        scored_samples=done,
        unscored_samples=len(samples) - done,
        metrics={name: EvalMetric(name=name, value=value, metadata=about.get(name)) for name, value in values.items()},
    )
    return EvalResults(total_samples=len(samples), completed_samples=done, scores=[score])


def _summary(finished: FinishedRun) -> dict[str, Any]:
    """Returns what is no number. A log travels, so nothing in it says where the run was on this machine."""
    from umpirical.integrations.inspect.samples import undefined

    told = finished.summary()
    paths = {"html", finished.protocol.name}
    return {name: value for name, value in told.items() if name not in paths} | {"undefined": undefined(finished)}


def _model(run: Run) -> str:
    model = run.judge.model
    if model is None:
        return f"callable/{run.judge.name}"
    return model.name if "/" in model.name else f"{model.adapter}/{model.name}"


# The transcripts that a judge of agents was shown, as a log for `inspect view`.


MOST_TRANSCRIPTS = 20_000
"""Texts of one log; Inspect reads a log into memory."""


def export_transcripts(folder: Path, out: Path) -> tuple[Path, int]:
    """Writes the texts of a run, each once, with the policy, the truth and the edit; returns path and number."""
    run = open_run(folder)
    if run.manifest["protocol"] != "umpirical-agent/2":
        raise UsageError(f"{run.name} is not a run on transcripts", fix="export its answers with --to inspect")
    if run.stimuli.manifest["stimuli"] > MOST_TRANSCRIPTS:
        raise UsageError(f"more than {MOST_TRANSCRIPTS:,} texts", fix="export a smaller run")
    samples = list(_transcript_samples(run.stimuli))
    return write_log(samples, out, name=run.name), len(samples)


def write_log(samples: "list[EvalSample]", out: Path, *, name: str) -> Path:
    try:
        from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSpec, write_eval_log
    except ImportError:
        raise UsageError(
            "writing Inspect logs requires the `inspect` extra", fix="pip install 'umpirical[inspect]'"
        ) from None
    spec = EvalSpec(
        created="2000-01-01T00:00:00+00:00",
        task="umpirical/transcripts",
        task_id=name,
        run_id=name,
        eval_id=name,
        dataset=EvalDataset(name=name, samples=len(samples), sample_ids=[str(sample.id) for sample in samples]),
        model="none/none",
        config=EvalConfig(),
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    write_eval_log(EvalLog(status="success", eval=spec, samples=samples), str(out))
    return out


def _transcript_samples(stimuli: Iterable[Stimulus]) -> "Iterator[EvalSample]":
    for stimulus in stimuli:
        about = {"edit": stimulus.family, "truth": stimulus.gold, "policy": stimulus.version, **stimulus.strata}
        shown = transcript_from_text(stimulus.candidates[0])
        name = f"{stimulus.task_id} {stimulus.family} {stimulus.version} {stimulus.id[:8]}"
        yield sample_of(shown, name=name, policy=stimulus.task, about={**about, **stimulus.evidence})


def sample_of(transcript: Transcript, *, name: str, policy: str, about: dict[str, Any]) -> "EvalSample":
    """Returns a transcript as a sample: the policy is its input, and its messages are the transcript's."""
    from inspect_ai.log import EvalSample

    messages = [_chat_message(message) for message in transcript.messages]
    return EvalSample(id=name, epoch=1, input=policy, target="", messages=messages, metadata=about)


def _chat_message(message: Message) -> "ChatMessage":
    from inspect_ai.model import (
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
        ContentReasoning,
        ContentText,
    )
    from inspect_ai.tool import ToolCall, ToolCallError

    match message.role:
        case "system":
            return ChatMessageSystem(content=message.text)
        case "user":
            return ChatMessageUser(content=message.text)
        case "tool":
            kind, _, said = message.error.partition(": ")
            failed: Any = {"type": kind, "message": said} if message.error else None
            error = ToolCallError(**failed) if failed else None
            return ChatMessageTool(
                content=message.text, tool_call_id=message.answers, function=message.tool or None, error=error
            )
        case "assistant":
            calls = [
                ToolCall(
                    id=call.id,
                    function=call.tool,
                    arguments=call.named or {},
                    parse_error=f"not a JSON object: {call.arguments[:200]}" if call.named is None else None,
                )
                for call in message.calls
            ]
            content: Any = message.text
            if message.reasoning:
                content = [ContentReasoning(reasoning=message.reasoning), ContentText(text=message.text)]
            return ChatMessageAssistant(content=content, tool_calls=calls or None)
