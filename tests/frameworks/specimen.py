"""A judge of a framework that is measured, and the model behind it: a simulated judge that reads its prompts."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from tests.servers.chat_server import Message, prompt_text
from umpirical.api.options import DatasheetKeywords
from umpirical.api.studies import datasheet_study
from umpirical.domain.digests import digest
from umpirical.domain.trials import Presentation, Presented
from umpirical.judges.factory import build_judge
from umpirical.judges.simulated.comparer import Comparer, GradedPair, Grader, true_grades, true_values
from umpirical.judges.simulated.model import simulated_profile
from umpirical.judges.simulated.profiles import GraderProfile
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import Calling
from umpirical.protocols.datasheet.stimuli import quality_of
from umpirical.stats.simulation.judge import LatentJudge, slot_rates

FAULTS = {"rejected": "rejected", "rate-limit": "rate-limited", "server-error": "server-error", "hang": "timeout"}
"""How a server fails, and what that is in a run."""

BATCH = 64
"""Questions in one start of promptfoo, which takes seconds."""

RUBBISH = "There is much to be said for and against."


@dataclass(frozen=True)
class Specimen:
    """How to build one judge of a framework, and how the model behind it answers."""

    name: str
    build: Callable[[str, str], Any]
    """From the address of a server and a rubric to the judge, with retries of its client off where that can be set."""
    reads: str | Callable[[str], Presented]
    """Regular expression for a prompt, with the groups task, and first and second or response; or a function."""
    says: Callable[..., str | Message]
    """From a verdict to the model's answer, in the form that the framework wants. Also given the prompt if `names`."""
    plants: str
    """The simulated judge behind it."""
    stranger: Callable[[], object]
    """Returns an object of the package that is not a judge."""
    entry: Mapping[str, Any] = field(default_factory=dict)
    """What the user has to say because the judge does not tell: keys of a judge in a study file."""
    off_scale: tuple[Any, ...] = ()
    """Verdicts that no judgment may be made of."""
    variant: str = "baseline"
    """forced-choice for a judge of pairs that has no tie."""
    one_sided: bool = False
    """Whether it says only that the first is better, or not."""
    names: bool = False
    """Whether the prompt decides how the answer is worded: it gives the candidates names."""
    requests: int = 1
    """Requests for one judgment."""
    asides: int = 0
    """Requests for other things, over all judgments."""
    one_address: bool = False
    """Whether every judge of the kind sends to the address in the environment, so that two servers cannot be told
    apart, as the conformance kit does."""
    aside: Callable[[str], str | Message | None] = lambda _prompt: None
    """Answers a prompt that asks for something other than a verdict; None for all others."""
    shows: Callable[[str], str] = lambda text: text
    """How a text stands in the prompt."""
    is_config: bool = False
    """Whether what is built is the text of a config of promptfoo's, and no object."""
    faults: Mapping[str, str] = field(default_factory=dict)
    """Where it differs from the others: how a server fails, and what that is in a run."""

    def made(self, base_url: str, rubric: str, folder: Path) -> Any:
        """Returns the judge: an object, or an entry about a file that is written into a folder."""
        return self.placed(self.build(base_url, rubric), folder)

    def placed(self, built: Any, folder: Path) -> Any:
        if not self.is_config:
            return built
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"promptfoo-{digest('config', built)[:12]}.yaml"
        file.write_text(built, encoding="utf-8")
        return {"name": "judge", "promptfoo": {"config": file.name}, "batch": BATCH}

    def shown(self, body: Mapping[str, Any]) -> Presented:
        """Returns what a prompt shows."""
        if callable(self.reads):
            return self.reads(prompt_text(dict(body)))
        found = re.search(self.reads, prompt_text(dict(body)), re.DOTALL)
        if found is None:
            raise ValueError(f"{self.name}: unexpected prompt: {prompt_text(dict(body))!r}")
        parts = found.groupdict()
        return Presented(parts["task"], parts.get("first", parts.get("response")), parts.get("second"))

    def said(self, verdict: Any, prompt: str) -> str | Message:
        return self.says(verdict, prompt) if self.names else self.says(verdict)

    def expected(self, fault: str) -> str:
        return self.faults.get(fault, FAULTS[fault])


class Simulation:
    """A model with true value defects, which answers every prompt of a judge. A share of its answers is rubbish.

    Every draw depends on what is shown alone, so that a repeated request has the same answer.
    """

    SEED = 11
    RUBBISH_SHARE = 0.05

    def __init__(self, specimen: Specimen, judge: JudgeSpec, folder: Path) -> None:
        self._specimen, self._judge, self._folder = specimen, judge, folder
        self.rubbish: set[str] = set()
        """The questions that were answered with rubbish."""
        self.asked: set[str] = set()

    def answer(self, body: dict[str, Any]) -> str | Message:
        if (other := self._specimen.aside(prompt_text(body))) is not None:
            return other
        shown = self._as_asked(self._specimen.shown(body))
        prompt = self._native.request(shown, Presentation()).messages[-1].content
        question = digest("question", prompt)
        self.asked.add(question)
        if int(question[:8], 16) / 16**8 < self.RUBBISH_SHARE:
            self.rubbish.add(question)
            return RUBBISH
        said = json.loads(self._simulated.answer(prompt, question))
        verdict = said.get("verdict", said.get("grade"))
        if verdict == "tie" and self._specimen.variant == "forced-choice":
            # Of two empty answers the model may say so, although the judge has no word for it.
            self.rubbish.add(question)
        return self._specimen.said(verdict, prompt_text(body))

    def true_value(self) -> dict[tuple[str, str], float]:
        """Returns the true values of the measures, by name and stratum."""
        stimuli = self._stimuli
        pairs = [
            GradedPair(s.cluster, s.base or 0.0, s.delta or 0.0) for s in stimuli if s.family in ("equal", "graded")
        ]
        if isinstance(self._profile, GraderProfile):
            values = true_grades(self._profile, self._judge.scale, pairs)
        else:
            steps = sorted({pair.delta for pair in pairs if pair.delta})
            values = true_values(self._profile, steps, self._specimen.variant)
            if self._specimen.one_sided:
                values = _one_sided(self._profile.latent)
        return {key: value for key, value in values.items() if key[0] not in ("unparsed-rate", "failure-rate")}

    def _as_asked(self, shown: Presented) -> Presented:
        """Returns the texts of the study. promptfoo shows an answer that is JSON without its spaces."""
        if not self._specimen.is_config:
            return shown
        second = None if shown.second is None else self._spaced.get(_tight(shown.second), shown.second)
        return Presented(shown.task, self._spaced.get(_tight(shown.first), shown.first), second)

    @cached_property
    def _spaced(self) -> dict[str, str]:
        return {_tight(text): text for stimulus in self._stimuli for text in stimulus.candidates}

    @cached_property
    def _profile(self) -> Any:
        return simulated_profile(self._specimen.plants, self._judge.kind)

    @cached_property
    def _study(self) -> Any:
        suffix = "" if self._specimen.variant == "baseline" else f"-{self._specimen.variant}"
        entry = {
            "name": "twin",
            "kind": self._judge.kind,
            "model": {"adapter": "simulated", "name": self._specimen.plants},
            "prompts": {"baseline": f"builtin:{self._judge.kind}{suffix}"},
            **({"scale": self._judge.scale} if self._judge.scale else {}),
        }
        return datasheet_study([entry], DatasheetKeywords(folder=self._folder, size="screen", trust=True))

    @cached_property
    def _stimuli(self) -> list[Any]:
        return list(self._study.protocol.stimuli(self._study))

    @cached_property
    def _native(self) -> Any:
        """The same judge as if it had no framework: it renders the prompts that a simulated judge reads."""
        calling = Calling(answer_key=lambda: self._key, seed=self.SEED)
        return build_judge(self._study.spec.judges[0], folder=self._folder, calling=calling)

    @cached_property
    def _key(self) -> Any:
        return quality_of(self._stimuli)

    @cached_property
    def _simulated(self) -> Any:
        kind = Grader if isinstance(self._profile, GraderProfile) else Comparer
        return kind(self._profile, self._key, self.SEED)


def _tight(text: str) -> str:
    """Returns JSON without spaces, and any other text as it is."""
    try:
        return json.dumps(json.loads(text), separators=(",", ":"))
    except ValueError:
        return text


def _one_sided(latent: LatentJudge) -> dict[tuple[str, str], float]:
    """Returns the true values of a judge that never names position 2."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    eta, weights = latent.surface * nodes, weights / weights.sum()
    p, _ = slot_rates(latent, eta + latent.slot_bias)
    q, _ = slot_rates(latent, -eta + latent.slot_bias)
    dark, _ = slot_rates(latent, latent.slot_bias, criterion=latent.vacuum_criterion)
    return {
        **{("dark-current", part): float(dark) for part in ("", "empty", "whitespace", "identical")},
        ("positional-false-preference", ""): float(weights @ (p * q)),
        ("one-sided-commit", ""): float(weights @ (p * (1 - q) + q * (1 - p))),
        ("no-preference", ""): float(weights @ ((1 - p) * (1 - q))),
        ("raw-false-preference", ""): float(weights @ (p + q)) / 2,
    }
