"""The built-in simulated examiners: judges of the user's own data, each with one defect, planted on purpose."""

from dataclasses import dataclass, replace

from umpirical.stats.simulation.examiner import LatentExaminer


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
