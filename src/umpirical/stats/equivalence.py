"""How many items it takes to show that a change makes no difference."""

from math import ceil

from scipy.special import ndtri

__all__ = ["items_for_equivalence"]


def items_for_equivalence(
    margin: float, *, discordance: float, power: float = 0.9, level: float = 0.05, design_effect: float = 1.0
) -> int:
    """Items with which two one-sided tests at `level` find a net shift of nothing to be within `margin`.

    Formula: (z(1 - level) + z(1 - (1 - power)/2))² · discordance · design effect / margin². `discordance` is the
    share of verdicts that differ between original and changed text, in either direction, where they differ by one
    step; in general the mean squared shift. Items are independent of each other, or `design_effect` says how much
    more the mean varies because they are not.

    Reference: D. J. Schuirmann, A comparison of the two one-sided tests procedure and the power approach, Journal of
    Pharmacokinetics and Biopharmaceutics 15 (1987).

    >>> items_for_equivalence(0.05, discordance=0.10)
    433
    """
    if margin <= 0 or discordance < 0 or design_effect <= 0:
        raise ValueError(
            f"expected a positive margin and design effect and a discordance of at least 0, "
            f"got {margin:g}, {design_effect:g} and {discordance:g}"
        )
    if not (0 < power < 1 and 0 < level < 0.5):
        raise ValueError(f"expected 0 < power < 1 and 0 < level < 0.5, got {power:g} and {level:g}")
    reach = float(ndtri(1 - level) + ndtri(1 - (1 - power) / 2))
    return max(2, ceil(reach**2 * discordance * design_effect / margin**2 - 1e-9))
