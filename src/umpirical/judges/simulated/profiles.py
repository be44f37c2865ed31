"""The simulated judges that ship: each with one defect, planted on purpose and documented."""

from dataclasses import dataclass

from umpirical.domain.errors import UsageError
from umpirical.stats.latent import LatentJudge

__all__ = ["PROFILES", "Profile", "profile"]


@dataclass(frozen=True, slots=True)
class Profile:
    """What is planted."""

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
    """Share of the noise that is the same for every repeat of a prompt: 1 answers repeats alike, 0 afresh."""
    unparsed_rate: float = 0.0
    """Share of calls answered with something that is not on the scale."""
    failure_rate: float = 0.0
    """Share of calls not answered at all."""


PROFILES = {
    "careful": Profile(
        "Sees one missing requirement, ties on equal answers and on nothing: a judge without a planted defect.",
        LatentJudge(resolution=2.7, criterion=1.13, slot_bias=0.35, surface=0.15, lapse=0.005, vacuum_criterion=3.0),
        frozen_noise=0.5,
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
    ),
    "something-from-nothing": Profile(
        "Judges real answers well, and names a winner between two empty ones.",
        LatentJudge(resolution=2.5, criterion=1.2, slot_bias=0.1, surface=0.15, lapse=0.005, vacuum_criterion=0.4),
        defects=(("dark-current", ""),),
        frozen_noise=0.0,
    ),
    "short-sighted": Profile(
        "Misses small differences: it takes several missing requirements to see one.",
        LatentJudge(resolution=0.55, criterion=0.8, slot_bias=0.1, surface=0.2, lapse=0.01, vacuum_criterion=2.5),
        defects=(("detection-threshold", ""), ("target-sensitivity", "1")),
    ),
    "coin": Profile(
        "Flips a coin and never ties.",
        LatentJudge(resolution=0.0, criterion=0.0, vacuum_criterion=0.0),
        defects=(("raw-false-preference", ""), ("target-sensitivity", "5")),
        frozen_noise=0.0,
    ),
    "mumbling": Profile(
        "A careful judge whose answers are often not on the scale, or not there at all.",
        LatentJudge(resolution=2.7, criterion=1.13, slot_bias=0.35, surface=0.15, lapse=0.005, vacuum_criterion=3.0),
        defects=(("unparsed-rate", ""), ("failure-rate", "")),
        unparsed_rate=0.08,
        failure_rate=0.04,
    ),
}


def profile(name: str) -> Profile:
    if name not in PROFILES:
        raise UsageError(f"no simulated judge {name!r}", fix=f"known: {', '.join(PROFILES)}")
    return PROFILES[name]
