"""What the user writes about a datasheet."""

from pydantic import Field, model_validator

from umpirical.protocols.datasheet.policy_files import DEFAULT, PRESETS
from umpirical.protocols.study import DesignSpec, Study, StudySpec
from umpirical.stimuli.controlled.materials import Ladder

__all__ = ["DatasheetDesignSpec", "DatasheetSpec", "DatasheetStudy"]


class DatasheetDesignSpec(DesignSpec):
    """How much is asked, and how often."""

    size: str = Field(default="standard", description="How much is asked: screen, paper, standard or full.")
    ladder: Ladder = Field(
        default="crossed",
        description="crossed: only a judge that reads the task can pass. filler: to compare with the paper.",
    )


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
