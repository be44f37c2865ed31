"""What the user writes about a datasheet."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from umpirical.domain.trials import BASELINE
from umpirical.protocols.datasheet.policy_files import DEFAULT, PRESETS
from umpirical.protocols.protocol import DesignSpec, NewStudy, Study, StudySpec
from umpirical.protocols.start import new_study_file, scalar, study_name
from umpirical.stimuli.controlled.materials import Ladder
from umpirical.store.files import write_text


class ArmSpec(BaseModel):
    """One arm: its instruction, and which pairs it is asked about."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    prompt: str = Field(
        default="",
        description="A built-in instruction (strict) or a file beside the study file. Default: the arm's own name.",
    )
    steps: tuple[float, ...] | None = Field(
        default=None,
        min_length=1,
        description="A probe is asked about pairs of these steps only, 0 for equal ones. Default: everything.",
    )

    @field_validator("steps")
    @classmethod
    def _sizes(cls, steps: tuple[float, ...] | None) -> tuple[float, ...] | None:
        if steps is not None and (min(steps) < 0 or len(set(steps)) != len(steps)):
            raise ValueError("steps are numbers of requirements from 0 up, each once")
        return steps


def _by_name(arms: Any) -> Any:  # noqa: ANN401  # whatever was written
    """Takes a list of names as arms that are asked about everything; the baseline comes first among named ones."""
    if isinstance(arms, list | tuple) and all(isinstance(name, str) for name in arms):
        return {name: {} for name in arms}
    return {BASELINE: {}, **arms} if isinstance(arms, Mapping) else arms


Arms = Annotated[dict[str, ArmSpec], BeforeValidator(_by_name, json_schema_input_type=list[str] | dict[str, ArmSpec])]


class DatasheetDesignSpec(DesignSpec):
    """How much is asked, and how often."""

    arms: Arms = Field(  # type: ignore[assignment]  # by name too: all that the other protocols look at
        default={BASELINE: ArmSpec()},
        min_length=1,
        description="Names (baseline, strict, forced-choice), or names with prompt and steps, to which the baseline is "
        "added: {strict: {steps: [0, 1, 5]}}. The prompts are for judges that name none.",
    )
    size: str = Field(default="standard", description="How much is asked: screen, paper, standard or full.")
    ladder: Ladder = Field(
        default="crossed",
        description="crossed: only a judge that reads the task can pass. filler: to compare with the paper.",
    )

    @model_validator(mode="after")
    def _whole_baseline(self) -> "DatasheetDesignSpec":
        if BASELINE in self.arms and self.arms[BASELINE].steps is not None:
            raise ValueError("the baseline is asked about everything: a probe is held against it")
        return self

    @property
    def prompts(self) -> dict[str, str]:
        """The prompt of each arm, for judges that name none."""
        return {name: arm.prompt or name for name, arm in self.arms.items()}

    @property
    def steps(self) -> dict[str, tuple[float, ...]]:
        """The steps of each probe."""
        return {name: arm.steps for name, arm in self.arms.items() if arm.steps is not None}


class DatasheetSpec(StudySpec):
    """A study of judges on controlled stimuli."""

    tasks: list[str] | None = Field(
        default=None,
        description="Task files (.yaml) beside the study file, or built-in tasks or families. Default: by size.",
    )
    carriers: str | None = Field(
        default=None,
        description="A file beside the study file with answers of your own and the claims in them that you verified.",
    )
    design: DatasheetDesignSpec = DatasheetDesignSpec()
    policy: str = Field(
        default=DEFAULT,
        description=f"What the judges are held to: {', '.join(PRESETS)}, or a .yaml file beside the study file.",
    )

    @model_validator(mode="after")
    def _tasks_once(self) -> "DatasheetSpec":
        if self.tasks is not None and len(set(self.tasks)) != len(self.tasks):
            raise ValueError("a task is named twice")
        return self


DatasheetStudy = Study[DatasheetSpec]


STUDY = """\
# A study: which judges are measured, and how.  umpirical schema config  lists every key.
study: {name}
seed: 1

judges:
  # Two simulated judges, which need no key and no network: a sound one, and one that names slot 1 whatever is in it.
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

# Answers of your own, with claims in them that you verified, are measured apart:
# carriers: answers.yaml    # answers: [{{id: a, task: ..., answer: ..., claims: [a passage of the answer]}}]
#                           # and context: what it is grounded in, if anything

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
