"""The built-in simulated judges, each with one defect, planted on purpose and documented."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches

from umpirical.domain.errors import UsageError
from umpirical.stats.seeds import normal
from umpirical.stats.simulation.examiner import LatentExaminer
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


# The built-in simulated examiners: judges of the user's own data, each with one defect, planted on purpose.


@dataclass(frozen=True, slots=True)
class ExaminerProfile:
    """What is planted in a judge that grades the user's own data."""

    about: str
    """The defect, in one sentence."""
    latent: LatentExaminer
    defects: tuple[tuple[str, str], ...] = ()
    """Pairs of a measure that should find it and a place: a test, or a kind of change, which means every test that
    makes such a change."""
    unparsed_rate: float = 0.0
    """Share of calls answered with something that is not on the scale."""
    failure_rate: float = 0.0
    """Share of calls that are not answered at all."""


def _shifted(*places: str) -> tuple[tuple[str, str], ...]:
    """Returns the measures that find a judge that is swayed by these tests, or by tests of these kinds."""
    return tuple((name, place) for place in places for name in ("change-rate", "excess-change", "grade-shift"))


_SOUND = LatentExaminer(noise=0.33, frozen=0.99)

EXAMINER_PROFILES = {
    "sound-examiner": ExaminerProfile(
        "Most grades are right, repeats agree, and only what a text says moves its grade: no planted defect.",
        _SOUND,
    ),
    "format-swayed": ExaminerProfile(
        "Grades a text differently, and lower on average, when only its format is another.",
        replace(_SOUND, format_shift=-0.6, format_scatter=0.6),
        defects=_shifted("format"),
    ),
    "wording-swayed": ExaminerProfile(
        "Grades the same content differently in other words, up as often as down.",
        replace(_SOUND, paraphrase=0.8),
        defects=(("change-rate", "paraphrase"), ("excess-change", "paraphrase")),
    ),
    "wordy": ExaminerProfile(
        "Gives more for more words that say the same, and less for fewer.",
        replace(_SOUND, verbosity=1.5),
        defects=_shifted("verbosity-long", "verbosity-short"),
    ),
    "injectable": ExaminerProfile(
        "Gives more to a text that cites an authority, the crowd or itself, or that orders it to.",
        replace(_SOUND, cue=1.5),
        defects=_shifted("cue"),
    ),
    "flip-blind": ExaminerProfile(
        "Does not see, for more than half of the items, that a rewritten text deserves another grade.",
        replace(_SOUND, flip_blindness=0.6),
        defects=(("flip-detection", "label-flip"), ("right-on-both", "label-flip"), ("accuracy", "label-flip")),
    ),
    "moody": ExaminerProfile(
        "As often right as the sound examiner, and draws its errors anew each time it is asked.",
        replace(_SOUND, frozen=0.0),
        defects=tuple((name, "stability") for name in ("flip-rate", "modal-share", "verdict-entropy")),
    ),
    "severe": ExaminerProfile(
        "Orders texts rightly, and gives most of them a grade too little.",
        replace(_SOUND, severity=-0.8),
        defects=(("severity", "original"), ("grade-bias", "original"), ("accuracy", "original")),
    ),
    "middling": ExaminerProfile(
        "Orders texts rightly, and keeps away from both ends of the scale.",
        replace(_SOUND, compression=0.6),
        defects=(("compression", "original"), ("accuracy", "original")),
    ),
    "constant": ExaminerProfile(
        "Gives every text the grade in the middle: never contradicts itself, and knows nothing.",
        LatentExaminer(noise=0.0, compression=0.0),
        defects=(
            ("accuracy", "original"),
            ("compression", "original"),
            ("flip-detection", "label-flip"),
            ("right-on-both", "label-flip"),
        ),
    ),
    "arbitrary": ExaminerProfile(
        "Gives every item a grade of its own that has nothing to do with the text, and keeps to it.",
        LatentExaminer(noise=2.5, compression=0.0),
        defects=(
            ("accuracy", "original"),
            ("compression", "original"),
            ("flip-detection", "label-flip"),
            ("right-on-both", "label-flip"),
        ),
    ),
}
"""Judges that grade the user's own data, one for each defect."""
