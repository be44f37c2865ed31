"""The built-in simulated judges, each with one defect, planted on purpose and documented."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches

from umpirical.domain.errors import UsageError
from umpirical.stats.seeds import normal
from umpirical.stats.simulation.grader import LatentGrader
from umpirical.stats.simulation.judge import LatentJudge


@dataclass(frozen=True, slots=True)
class Profile:
    """What is planted in a judge that compares."""

    about: str
    """The defect, in one sentence."""
    latent: LatentJudge
    defects: tuple[tuple[str, str], ...] = ()
    """(measure, stratum) of the measures that should find it."""
    resolution_spread: float = 0.0
    """Standard deviation of log resolution between tasks."""
    criterion_spread: float = 0.0
    """Standard deviation of the criterion between tasks."""
    frozen_noise: float = 1.0
    """Share of the noise that is the same for every repeat of a prompt: 1 repeats its answers, 0 draws each again."""
    unparsed_rate: float = 0.0
    """Share of calls answered with something that is not on the scale."""
    failure_rate: float = 0.0
    """Share of calls that are not answered at all."""
    strict_shift: float = 0.0
    """How much more evidence it takes under the built-in strict instruction; 0 ignores it."""

    def under(self, arm: str) -> LatentJudge:
        """Returns the judge under an instruction. Without ties it names the likelier one, except in a lapse."""
        if arm == "forced-choice":
            return replace(self.latent, criterion=0.0, vacuum_criterion=0.0)
        shift = self.strict_shift if arm == "strict" else 0.0
        return replace(
            self.latent,
            criterion=self.latent.criterion + shift,
            vacuum_criterion=self.latent.vacuum_criterion + shift,
        )


@dataclass(frozen=True, slots=True)
class GraderProfile:
    """What is planted in a judge that grades."""

    about: str
    latent: LatentGrader
    defects: tuple[tuple[str, str], ...] = ()
    """(measure, stratum) of the measures that should find it."""
    gain_spread: float = 0.0
    """Standard deviation of log gain between tasks."""
    leniency_spread: float = 0.0
    """Standard deviation of the leniency between tasks, including for blank answers."""
    frozen_noise: float = 1.0
    """Share of the noise that is the same for every repeat of a prompt: 1 repeats its answers, 0 draws each again."""
    unparsed_rate: float = 0.0
    failure_rate: float = 0.0


_CAREFUL = LatentJudge(resolution=5.5, criterion=2.5, slot_bias=0.1, surface=0.15, lapse=0.002, vacuum_criterion=3.5)

PROFILES = {
    "careful": Profile(
        "Sees one missing requirement, ties on equal answers and on nothing: a judge without a planted defect.",
        _CAREFUL,
        frozen_noise=0.5,
        strict_shift=1.2,
    ),
    "slot-locked": Profile(
        "Names slot 1 whatever is in it.",
        LatentJudge(resolution=0.35, criterion=0.05, slot_bias=2.2, surface=0.3, lapse=0.01, vacuum_criterion=0.45),
        defects=(("positional-false-preference", ""), ("dark-current", "")),
    ),
    "surface-swayed": Profile(
        "Prefers one wording over another of equal quality, and keeps to it in both orders.",
        LatentJudge(resolution=1.5, criterion=0.6, slot_bias=0.2, surface=2.0, lapse=0.01, vacuum_criterion=2.5),
        defects=(("stable-cross-sensitivity", ""),),
        strict_shift=1.0,
    ),
    "something-from-nothing": Profile(
        "Judges real answers well, and names a winner between two empty ones.",
        LatentJudge(resolution=2.5, criterion=1.2, slot_bias=0.1, surface=0.15, lapse=0.005, vacuum_criterion=0.4),
        defects=(("dark-current", ""),),
        frozen_noise=0.0,
        strict_shift=1.0,
    ),
    "short-sighted": Profile(
        "Misses small differences: it takes several missing requirements to see one.",
        LatentJudge(resolution=0.55, criterion=0.8, slot_bias=0.1, surface=0.2, lapse=0.01, vacuum_criterion=2.5),
        defects=(("detection-threshold", ""), ("target-sensitivity", "1")),
        strict_shift=0.8,
    ),
    "coin": Profile(
        "Flips a coin and never ties.",
        LatentJudge(resolution=0.0, criterion=0.0, vacuum_criterion=0.0),
        defects=(("raw-false-preference", ""), ("target-sensitivity", "5")),
        frozen_noise=0.0,
    ),
    "mumbling": Profile(
        "A careful judge whose answers are often not on the scale, or not there at all.",
        _CAREFUL,
        defects=(("unparsed-rate", ""), ("failure-rate", "")),
        unparsed_rate=0.08,
        failure_rate=0.04,
        strict_shift=1.2,
    ),
}
"""Judges that compare, one for each defect: those of the demo."""

_STEADY = LatentGrader(gain=0.2, noise=0.02, surface=0.01, lapse=0.005, blank=-0.3)

GRADER_PROFILES = {
    "steady-grader": GraderProfile(
        "Uses its whole scale, grades equal answers alike and blanks with the least grade: no planted defect.",
        _STEADY,
        frozen_noise=0.5,
    ),
    "lenient-on-nothing": GraderProfile(
        "Grades real answers well, and gives a blank answer more than the least grade.",
        replace(_STEADY, blank=0.135),
        defects=(("dark-current", ""),),
        frozen_noise=0.0,
    ),
    "compressed-grader": GraderProfile(
        "Keeps to the middle of its scale: one requirement more hardly moves the grade.",
        replace(_STEADY, gain=0.06, noise=0.08, surface=0.03),
        defects=(("grade-slope", ""), ("effective-grades", ""), ("target-sensitivity", "1")),
    ),
    "noisy-grader": GraderProfile(
        "Grades equally good answers far apart.",
        replace(_STEADY, noise=0.2, surface=0.15),
        defects=(("grade-spread", ""), ("raw-false-preference", ""), ("grade-concordance", "")),
        frozen_noise=0.2,
    ),
}
"""Judges that grade."""

PAPER_PROFILES = {
    "llama-8b": Profile(
        "Llama 8B as published: names slot 1 nearly always, and makes something of nothing twice in three.",
        LatentJudge(resolution=1.36, criterion=0.0, slot_bias=2.13, vacuum_criterion=1.70),
    ),
    "qwen-14b": Profile(
        "Qwen 14B as published: never ties on answers, half by the slot, and ties on nothing.",
        LatentJudge(resolution=4.5, criterion=0.011, slot_bias=0.373, vacuum_criterion=4.5),
    ),
    "qwen-32b": Profile(
        "Qwen 32B as published: ties on most equal answers, and on all of them under the strict instruction.",
        LatentJudge(resolution=5.425, criterion=2.45, slot_bias=1.8, vacuum_criterion=6.0),
        strict_shift=2.975,
    ),
}
"""Judges like those of the Dark Current paper: parameters solved for its published counts of dark current, order
reversal, and differences of one and five requirements. Its threshold of 4 requirements for Llama 8B is not met: no
judge of this rule can have it together with 61 of 100 at one requirement and 20 of 20 at five."""


def profile(name: str) -> Profile:
    """Returns the profile of a judge that compares."""
    known = PROFILES | PAPER_PROFILES
    if name not in known:
        raise unknown_profile(name, "compares", known)
    return known[name]


def grader_profile(name: str) -> GraderProfile:
    """Returns the profile of a judge that grades."""
    if name not in GRADER_PROFILES:
        raise unknown_profile(name, "grades", GRADER_PROFILES)
    return GRADER_PROFILES[name]


def unknown_profile(name: str, does: str, known: Iterable[str]) -> UsageError:
    """Returns the error for an unknown name."""
    names = list(known)
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return UsageError(f"no simulated judge {name!r} {does}", fix=f"{hint}known: {', '.join(names)}")


def call_noise(seed: int, prompt: str, trial_id: str, *, frozen: float) -> float:
    """Returns the standard normal noise of one call; `frozen` is the share that repeats of a prompt have in common."""
    kept = math.sqrt(frozen) * normal(seed, "prompt noise", prompt)
    return kept + math.sqrt(1 - frozen) * normal(seed, "call noise", trial_id)
