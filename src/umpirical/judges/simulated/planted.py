"""What a simulated judge's measures should come to."""

from umpirical.judges.simulated.profiles import Profile
from umpirical.stats.isotonic import threshold
from umpirical.stats.latent import correct_rate, dark_current, decomposition, tie_rate

__all__ = ["planted_values"]


def planted_values(profile: Profile, steps: list[float]) -> dict[tuple[str, str], float]:
    """(measure, stratum) to true value, for a profile without task effects.

    Failures and unparsed answers are drawn apart from the content, so they move no other value. The detection
    threshold is the crossing of the true curve as measured: at the ladder's steps, joined by straight lines; a value
    beyond the ladder's ends is not given.
    """
    latent = profile.latent
    shares = decomposition(latent)
    dark = dark_current(latent)
    values = {
        ("dark-current", ""): dark,
        ("dark-current", "empty"): dark,
        ("dark-current", "whitespace"): dark,
        ("dark-current", "identical"): dark,
        ("raw-false-preference", ""): shares.raw_false_preference,
        ("stable-cross-sensitivity", ""): shares.stable,
        ("positional-false-preference", ""): shares.positional,
        ("one-sided-commit", ""): shares.one_sided,
        ("no-preference", ""): shares.no_preference,
        ("unparsed-rate", ""): profile.unparsed_rate,
        ("failure-rate", ""): profile.failure_rate,
        ("tie-rate", "0"): 1 - shares.raw_false_preference,
    }
    for step, correct, tie in zip(steps, correct_rate(latent, steps), tie_rate(latent, steps), strict=True):
        values["target-sensitivity", f"{step:g}"] = float(correct)
        values["tie-rate", f"{step:g}"] = float(tie)
    crossing = threshold(steps, correct_rate(latent, steps))
    if crossing.censoring == "none":
        values["detection-threshold", ""] = crossing.value
    return values
