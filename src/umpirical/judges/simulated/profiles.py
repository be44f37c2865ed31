"""The built-in simulated judges, each with one defect, built in on purpose and documented."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from umpirical.domain.errors import UsageError
from umpirical.stats.seeds import normal
from umpirical.stats.simulation.examiner import LatentExaminer
from umpirical.stats.simulation.grader import LatentGrader
from umpirical.stats.simulation.judge import LatentJudge


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """The known properties that every simulated judge has."""

    about: str
    """The defect, in one sentence."""
    defects: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)
    """(measure, stratum) of the measures that should find it. A judge of the user's own data has a test in place of the
    stratum, or a kind of change, which means every test that makes such a change."""
    unparsed_rate: float = field(default=0.0, kw_only=True)
    """Share of calls answered with something that is not on the scale."""
    failure_rate: float = field(default=0.0, kw_only=True)
    """Share of calls that are not answered at all."""


DETAIL = {"short": -1, "guided": 1, "example": 2}
"""How much longer than the baseline each built-in prompt is that asks for the same."""


@dataclass(frozen=True, slots=True)
class Profile(BuiltIn):
    """The known properties of a judge that compares."""

    latent: LatentJudge
    resolution_spread: float = 0.0
    """Standard deviation of log resolution between tasks."""
    criterion_spread: float = 0.0
    """Standard deviation of the criterion between tasks."""
    frozen_noise: float = 1.0
    """Share of the noise that is the same for every repeat of a prompt: 1 repeats its answers, 0 draws each again."""
    strict_shift: float = 0.0
    """How much more evidence it takes under the built-in strict instruction; 0 ignores it."""
    detail_gain: float = 0.0
    """How much its log resolution rises with each longer built-in prompt; below 0, more words only get in its way."""

    def under(self, variant: str) -> LatentJudge:
        """Returns the judge under an instruction. Without ties it names the likelier one, except in a lapse."""
        if variant == "forced-choice":
            return replace(self.latent, criterion=0.0, vacuum_criterion=0.0)
        shift = self.strict_shift if variant == "strict" else 0.0
        return replace(
            self.latent,
            resolution=self.latent.resolution * math.exp(self.detail_gain * DETAIL.get(variant, 0)),
            criterion=self.latent.criterion + shift,
            vacuum_criterion=self.latent.vacuum_criterion + shift,
        )


@dataclass(frozen=True, slots=True)
class GraderProfile(BuiltIn):
    """The known properties of a judge that grades."""

    latent: LatentGrader
    gain_spread: float = 0.0
    """Standard deviation of log gain between tasks."""
    leniency_spread: float = 0.0
    """Standard deviation of the leniency between tasks, including for blank answers."""
    frozen_noise: float = 1.0
    """Share of the noise that is the same for every repeat of a prompt: 1 repeats its answers, 0 draws each again."""


_CAREFUL = LatentJudge(resolution=5.5, criterion=2.5, slot_bias=0.1, surface=0.15, lapse=0.002, vacuum_criterion=3.5)

PROFILES = {
    "careful": Profile(
        "Notices one missing requirement and ties on equal and blank answers: no known defect.",
        _CAREFUL,
        frozen_noise=0.5,
        strict_shift=1.2,
    ),
    "slot-locked": Profile(
        "Always picks the first answer.",
        LatentJudge(resolution=0.35, criterion=0.05, slot_bias=2.2, surface=0.3, lapse=0.01, vacuum_criterion=0.45),
        defects=(("positional-false-preference", ""), ("dark-current", "")),
    ),
    "surface-swayed": Profile(
        "Prefers one wording over another of equal quality, in both orders.",
        LatentJudge(resolution=1.5, criterion=0.6, slot_bias=0.2, surface=2.0, lapse=0.01, vacuum_criterion=2.5),
        defects=(("stable-cross-sensitivity", ""),),
        strict_shift=1.0,
    ),
    "something-from-nothing": Profile(
        "Judges real answers well, but names a winner between two empty ones.",
        LatentJudge(resolution=2.5, criterion=1.2, slot_bias=0.1, surface=0.15, lapse=0.005, vacuum_criterion=0.4),
        defects=(("dark-current", ""),),
        frozen_noise=0.0,
        strict_shift=1.0,
    ),
    "short-sighted": Profile(
        "Misses small differences: it needs several missing requirements to notice one.",
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
        "Judges carefully, but its answers are often not on the scale or missing.",
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
        "Uses its whole scale, grades equal answers equally and blank answers lowest: no known defect.",
        _STEADY,
        frozen_noise=0.5,
    ),
    "lenient-on-nothing": GraderProfile(
        "Grades real answers well, but gives a blank answer more than the lowest grade.",
        replace(_STEADY, blank=0.135),
        defects=(("dark-current", ""),),
        frozen_noise=0.0,
    ),
    "compressed-grader": GraderProfile(
        "Stays near the middle of its scale: one more requirement hardly changes the grade.",
        replace(_STEADY, gain=0.06, noise=0.08, surface=0.03),
        defects=(("grade-slope", ""), ("effective-grades", ""), ("target-sensitivity", "1")),
    ),
    "noisy-grader": GraderProfile(
        "Gives equally good answers very different grades.",
        replace(_STEADY, noise=0.2, surface=0.15),
        defects=(("grade-spread", ""), ("raw-false-preference", ""), ("grade-concordance", "")),
        frozen_noise=0.2,
    ),
}
"""Judges that grade."""

PAPER_PROFILES = {
    "llama-8b": Profile(
        "Llama 8B as published: nearly always names the first position, and names a winner in two of three blank "
        "pairs.",
        LatentJudge(resolution=1.35, criterion=0.0, slot_bias=2.121, vacuum_criterion=1.69),
    ),
    "qwen-14b": Profile(
        "Qwen 14B as published: never ties on real answers, follows the position half of the time, and ties on blank "
        "answers.",
        LatentJudge(resolution=4.5, criterion=0.011, slot_bias=0.373, vacuum_criterion=4.5),
    ),
    "qwen-32b": Profile(
        "Qwen 32B as published: ties on most equal answers, and on all of them with the strict instruction.",
        LatentJudge(resolution=7.182, criterion=3.305, slot_bias=2.6, vacuum_criterion=8.0),
        # One criterion for all tasks would name a winner in one order only in 23 pairs of 60, against 21 published.
        criterion_spread=0.426,
        strict_shift=3.877,
    ),
}
"""Judges like those of the Dark Current paper: parameters solved for its published counts of dark current, order
reversal, and differences of one and five requirements. Its threshold of 4 requirements for Llama 8B is not met: no
judge of this rule can have it together with 61 of 100 at one requirement and 20 of 20 at five."""


def unknown_profile(name: str, does: str, known: Iterable[str]) -> UsageError:
    names = list(known)
    near = get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}? Otherwise " if near else ""
    return UsageError(f"unknown simulated judge {name!r}{does}", fix=f"{hint}choose one of: {', '.join(names)}")


def call_noise(seed: int, prompt: str, trial_id: str, *, frozen: float) -> float:
    """Returns the standard normal noise of one call; `frozen` is the share that repeats of a prompt have in common."""
    kept = math.sqrt(frozen) * normal(seed, "prompt noise", prompt)
    return kept + math.sqrt(1 - frozen) * normal(seed, "call noise", trial_id)


# The built-in simulated examiners: judges of the user's own data, each with one defect, built in on purpose.


@dataclass(frozen=True, slots=True)
class ExaminerProfile(BuiltIn):
    """The known properties of a judge that grades the user's own data."""

    latent: LatentExaminer


def _shifted(*places: str) -> tuple[tuple[str, str], ...]:
    """Returns the measures that find a judge that is swayed by these tests, or by tests of these kinds."""
    return tuple((name, place) for place in places for name in ("change-rate", "excess-change", "grade-shift"))


_SOUND = LatentExaminer(noise=0.33, frozen=0.99)

EXAMINER_PROFILES = {
    "sound-examiner": ExaminerProfile(
        "Grades most items correctly, repeats itself, and changes a grade only if the content changes: no known "
        "defect.",
        _SOUND,
    ),
    "format-swayed": ExaminerProfile(
        "Changes its grade, usually downward, when only the format of a text changes.",
        replace(_SOUND, format_shift=-0.6, format_scatter=0.6),
        defects=_shifted("format"),
    ),
    "wording-swayed": ExaminerProfile(
        "Changes its grade, up as often as down, when only the wording of a text changes.",
        replace(_SOUND, paraphrase=0.8),
        defects=tuple(
            (name, place) for place in ("paraphrase", "own-words") for name in ("change-rate", "excess-change")
        ),
    ),
    "wordy": ExaminerProfile(
        "Gives higher grades to longer texts with the same content, and lower grades to shorter ones.",
        replace(_SOUND, verbosity=1.5),
        defects=_shifted("verbosity-long", "verbosity-short"),
    ),
    "injectable": ExaminerProfile(
        "Gives higher grades to texts that cite an authority, the crowd or themselves, or that ask for a high grade.",
        replace(_SOUND, cue=1.5),
        defects=_shifted("cue"),
    ),
    "prefers-own-words": ExaminerProfile(
        "Prefers its own model's words to another model's words for the same content.",
        replace(_SOUND, own_words=0.6),
        defects=_shifted("own-words"),
    ),
    "prefers-own-name": ExaminerProfile(
        "Prefers texts labeled as its own, whoever wrote them.",
        replace(_SOUND, own_claim=0.6),
        defects=_shifted("own-claim"),
    ),
    "flip-blind": ExaminerProfile(
        "Misses, for more than half of the items, that a rewritten text deserves a different grade.",
        replace(_SOUND, flip_blindness=0.6),
        defects=(("flip-detection", "label-flip"), ("right-on-both", "label-flip"), ("accuracy", "label-flip")),
    ),
    "moody": ExaminerProfile(
        "Is right as often as the sound examiner, but makes new random errors each time it is called.",
        replace(_SOUND, frozen=0.0),
        defects=tuple((name, "stability") for name in ("flip-rate", "modal-share", "verdict-entropy")),
    ),
    "severe": ExaminerProfile(
        "Ranks texts correctly, but grades most of them slightly too low.",
        replace(_SOUND, severity=-0.8),
        defects=(("severity", "original"), ("grade-bias", "original"), ("accuracy", "original")),
    ),
    "middling": ExaminerProfile(
        "Ranks texts correctly, but avoids both ends of the scale.",
        replace(_SOUND, compression=0.6),
        defects=(("compression", "original"), ("accuracy", "original")),
    ),
    "constant": ExaminerProfile(
        "Gives every text the middle grade: fully consistent and uninformative.",
        LatentExaminer(noise=0.0, compression=0.0),
        defects=(
            ("accuracy", "original"),
            ("compression", "original"),
            ("flip-detection", "label-flip"),
            ("right-on-both", "label-flip"),
        ),
    ),
    "arbitrary": ExaminerProfile(
        "Gives every item a grade that has nothing to do with the text, and repeats it.",
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
