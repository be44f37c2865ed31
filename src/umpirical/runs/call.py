"""Everything a worker needs to ask: paths and a spec, nothing open, so that it can be sent to any process."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from umpirical.domain.digests import Json
from umpirical.judges.factory import build_judge
from umpirical.judges.judge import Judge
from umpirical.judges.object_judge import ObjectJudge
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import Calling
from umpirical.registry import load_object
from umpirical.store.stimulus_sets import StimulusSet


@dataclass(frozen=True)
class CallSpec:
    """Which judge is asked about which stimuli."""

    judge: JudgeSpec
    """With its prompts resolved."""
    folder: Path
    """Folder of the study, in which the user's own judge is looked up."""
    stimuli: Path
    seed: int
    answer_key: str = ""
    """Path, as `module:function`, of the function that makes simulated judges' answer key; empty if there is none."""
    found: object = field(default=None, compare=False, repr=False)
    """The judge object itself, if it was passed in this process and cannot be found any other way."""

    _identity: dict[str, Json] = field(default_factory=dict, compare=False, repr=False)
    """The identity of the user's own judge when it was first opened. It has been asked since, and may have changed."""

    @cached_property
    def stimulus_set(self) -> StimulusSet:
        return StimulusSet(self.stimuli)

    def open_judge(self, calling: Calling | None = None) -> Judge:
        """Opens the judge for rendering and reading; with `calling`, also for asking."""
        calling = replace(calling or Calling(), answer_key=lambda: self._key, seed=self.seed)
        known = self._identity.get("asked")
        judge = build_judge(self.judge, folder=self.folder, calling=calling, found=self.found, identity=known)
        if isinstance(judge, ObjectJudge):
            self._identity["asked"] = judge.adapted.identity
        return judge

    @cached_property
    def _key(self) -> object:
        if not self.answer_key:
            raise LookupError("this protocol does not support simulated judges")
        return load_object(self.answer_key)(self.judge, self.stimulus_set)
