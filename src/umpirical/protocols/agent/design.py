"""What a judge of an agent study is asked about: texts if it grades, and pairs of them if it compares.

A text is graded on the judge's two labels, or on the levels of an item of the rubric.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from umpirical.domain.digests import Json, canonical_json
from umpirical.domain.scales import JudgeKind
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import Presentation
from umpirical.judges.judge import Capabilities
from umpirical.protocols.agent.rewriting import LEVEL_FAMILIES
from umpirical.protocols.agent.spec import LEVELS
from umpirical.runs.plan import Design


@dataclass(frozen=True)
class AgentDesign(Design):
    """Every text once in every arm and repeat, and every pair in both orders.

    Under an item that is graded in levels, a text is graded on these and with the prompt for them.
    """

    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    """The levels of each such item, worst first."""
    prompted: bool = True
    """Whether the judge has prompts; one that renders its own has none for levels either."""

    def as_json(self) -> Json:
        # A design without levels keeps its id.
        levels: dict[str, Json] = {"levels": {name: list(labels) for name, labels in self.levels.items()}}
        return {"repeats": self.repeats, "arms": self.arms, **(levels if self.levels else {})}

    def presentations(
        self, stimulus: Stimulus, capabilities: Capabilities, kind: JudgeKind = "compare"
    ) -> Iterator[Presentation]:
        if (len(stimulus.candidates) > 1) != (kind == "compare"):
            return
        ways = super().presentations(stimulus, capabilities, kind)
        if stimulus.family not in LEVEL_FAMILIES:
            yield from ways
            return
        levels, prompt = canonical_json(self.levels[stimulus.stratum]), LEVELS if self.prompted else ""
        # The prompt for levels takes the place of every arm's, so another arm would ask the same again.
        yield from (replace(way, levels=levels, prompt=prompt) for way in ways if way.arm == self.arms[0])
