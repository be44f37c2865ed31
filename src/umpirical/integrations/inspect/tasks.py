"""The tasks that Inspect finds: `inspect eval umpirical/datasheet`, `inspect eval umpirical/stress`.

Inspect imports this module by its entry point, in every command that looks for a task of this package, so everything
that is heavy is imported inside the functions.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from inspect_ai import Task, task
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

if TYPE_CHECKING:
    from umpirical.protocols.protocol import Study

RESPONSE = "umpirical:response"
"""Where a sample keeps the judge's response until it is scored."""

ATTEMPTS = 5
"""Times that Inspect tries a call again, unless its command line says otherwise. Its own default is for ever."""

SECONDS = 120
"""For one attempt, likewise."""


@task
def datasheet(  # noqa: PLR0913  # Inspect's `-T` options are its parameters
    *,
    size: str | None = None,
    variants: str | Sequence[str] = (),
    repeats: int | None = None,
    seed: int | None = None,
    judge: str | None = None,
    study: str | None = None,
    policy: str = "",
    folder: str | None = None,
    trust: bool = False,
) -> Task:
    """Measures the model as a judge on controlled stimuli, and writes its datasheet.

    `size` is screen (336 calls), paper (620), standard (1,368, the default) or full (2,640); `variants` are further tie
    instructions, strict and forced-choice; everything is asked `repeats` times; `seed` draws the stimuli. `judge` is a
    file with a judge in it, which says everything but the model. `study` is a study file, or its folder, in place of
    all of these; there, `judge` is the name of one of its judges. The run and its documents are kept in `folder`: by
    default in umpirical-runs, or beside the judge file.
    """
    from umpirical.integrations.inspect.hosted import hosted_datasheet, hosted_study

    design = {"size": size, "variants": variants, "repeats": repeats, "seed": seed, "folder": folder}
    if study is not None:
        return _task(hosted_study(study, "datasheet", judge=judge, design=design, policy=policy, trust=trust))
    return _task(hosted_datasheet(judge, design=design, policy=policy, trust=trust))


@task
def stress(  # noqa: PLR0913  # Inspect's `-T` options are its parameters
    *,
    data: str | None = None,
    rubric: str = "",
    instruction: str = "",
    response: str | None = None,
    label: str | None = None,
    task: str | None = None,
    tests: str | Sequence[str] | None = None,
    repeats: int | None = None,
    sample: int | None = None,
    seed: int | None = None,
    judge: str | None = None,
    study: str | None = None,
    folder: str | None = None,
    trust: bool = False,
) -> Task:
    """Measures the model as a judge that grades, on changed versions of your own responses.

    `data` is a CSV, JSON Lines or Parquet file; `response`, `label` and `task` name its columns, and are guessed if
    left out. The other parameters are those of `umpirical.stress`. `study` is a study file, or its folder, in place of
    all of these; there, `judge` is the name of one of its judges.
    """
    from umpirical.integrations.inspect.hosted import hosted_stress, hosted_study

    design = {"tests": tests, "repeats": repeats, "sample": sample, "seed": seed, "folder": folder}
    columns = {"response": response, "label": label, "task": task}
    if study is not None:
        said = {**design, **columns, "data": data, "rubric": rubric or None, "instruction": instruction or None}
        return _task(hosted_study(study, "stress", judge=judge, design=said, trust=trust))
    texts = {"rubric": rubric, "instruction": instruction}
    return _task(hosted_stress(judge, data, texts=texts, columns=columns, design=design, trust=trust))


def _task(study: "Study[Any]") -> Task:
    from inspect_ai import Epochs
    from inspect_ai.model import GenerateConfig
    from inspect_ai.viewer import ViewerConfig

    from umpirical.integrations.inspect.hosted import host

    hosted = host(study)
    place = str(hosted.run.folder)
    return Task(
        name=study.protocol.name,
        dataset=hosted.samples(),
        solver=ask(place),
        scorer=verdict(place),
        metrics=[measures(place)],
        # A verdict is a word. Inspect's usual reducer would make a number of it: of "tie" it would make 0.
        epochs=Epochs(1, "mode"),
        config=GenerateConfig(max_retries=ATTEMPTS, attempt_timeout=SECONDS),
        metadata={"umpirical": hosted.summary},
        # A judge's words, and the texts that it is shown, are a stranger's.
        viewer=ViewerConfig(trust_content=False),
    )


@solver
def ask(run: str) -> Solver:
    """Asks one trial of a run, exactly as it was planned."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001  # sends what a plan cannot say
        from inspect_ai.model import get_model

        from umpirical.integrations.inspect.hosted import hosted_run

        asked, response = await hosted_run(run).ask(get_model(), str(state.sample_id), epoch=state.epoch)
        if asked is not None:
            state.output = asked
            if not asked.empty:
                state.messages.append(asked.message)
        state.store.set(RESPONSE, response)
        return state

    return solve


@scorer(metrics=[])
def verdict(run: str) -> Scorer:
    """Reads the judge's answer. Every outcome is a word of its own: Inspect's metrics never see an unscored sample."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001  # no verdict is right or wrong by itself
        from umpirical.integrations.inspect.hosted import hosted_run

        return hosted_run(run).score(str(state.sample_id), state.store.get(RESPONSE))

    return score


@metric(scores="unreduced")
def measures(run: str) -> Metric:
    """Measures the judge by the answers in the scores, with the code that measures every run."""

    def measure(scores: list[SampleScore]) -> Value:
        from umpirical.integrations.inspect.hosted import hosted_run

        return hosted_run(run).measure(scores)

    return measure
