"""The default policy: the limits that a judge is held to, and what makes up for missing one of them.

The values are conventions, chosen before any judge was measured. Every word of a decision comes from this table.
"""

from umpirical.reports.limits import ANSWERED, FALSE_PREFERENCES, SEEN, Limit

__all__ = ["BOTH_ORDERS", "POLICIES", "RULES", "limit_value"]

BOTH_ORDERS = "Ask both orders, and count a preference only where both name the same answer; else count a tie."
LARGE_ONLY = "Trust it on large differences only; a tie says that none was found, not that there is none."
MARGIN = "Do not read a difference of one step between two grades as a difference in quality."


_SEEN = (
    Limit(
        "target-sensitivity", "1", "at_least", SEEN, cure=LARGE_ONLY, cure_needs=("target-sensitivity", "5"),
        good_for="Telling apart answers that differ by one requirement or more.",
        not_for="Differences of a single requirement.",
    ),
    Limit(
        "target-sensitivity", "5", "at_least", 0.95, essential=False,
        good_for="Telling apart answers that differ by all five requirements.",
        not_for="Claims that large differences are never missed.",
    ),
)  # fmt: skip

_COMPARE = (
    Limit(
        "dark-current", "", "at_most", 0.05,
        not_for="Pairs that may be empty, blank or identical: it names a winner all the same.",
    ),
    Limit(
        "raw-false-preference", "", "at_most", FALSE_PREFERENCES, cure=BOTH_ORDERS,
        good_for="Calling equal answers equal, in a single call.",
        not_for="Single calls in one order: between equal answers it still names a winner.",
    ),
    Limit(
        "positional-false-preference", "", "at_most", 0.10, cure=BOTH_ORDERS,
        not_for="Designs in which the order is not balanced.",
    ),
    Limit(
        "stable-cross-sensitivity", "", "at_most", 0.10,
        good_for="Calling equal answers equal, if both orders are asked.",
        not_for="Answers that differ in wording or layout only: it keeps to one of them in both orders.",
    ),
    *_SEEN,
    *ANSWERED,
)  # fmt: skip

_GRADE = (
    Limit(
        "dark-current", "", "at_most", 0.05,
        not_for="Answers that may be empty or blank: it gives them more than the least grade.",
    ),
    Limit(
        "raw-false-preference", "", "at_most", FALSE_PREFERENCES, cure=MARGIN,
        good_for="Giving equal answers the same grade.",
        not_for="Reading one step as a difference: equally good answers often get different grades.",
    ),
    Limit(
        "grade-spread", "", "at_most", 0.50,
        not_for="Single grades: those of equally good answers lie too far apart.",
    ),
    Limit(
        "grade-concordance", "", "at_least", 0.90,
        good_for="Ranking answers of different quality.",
        not_for="Ranking answers: it often gives the lesser one more.",
    ),
    *_SEEN,
    *ANSWERED,
)  # fmt: skip

POLICIES: dict[str, tuple[Limit, ...]] = {"compare": _COMPARE, "grade": _GRADE}
"""Limits by kind of judge."""

RULES = (
    """\
A limit passes only if the whole interval lies inside it, and fails only if the whole interval lies outside. What is \
neither is INCONCLUSIVE; what was not measured is N/A, and N/A never counts as a pass.
Do not use: an essential limit fails, and no way of use makes up for it.
Not enough data: otherwise, an essential limit is INCONCLUSIVE or N/A and nothing makes up for it, the run is \
incomplete, or the stimuli failed a gate that blocks.
Use with limits: otherwise, a limit is missed or unsettled; a way of use makes up for every essential one.
Use: every limit passes."""
).splitlines()
"""The rules as printed on the page."""


def limit_value(measure: str, stratum: str = "") -> float:
    """Returns the limit of a measure."""
    held = (limit for limits in POLICIES.values() for limit in limits)
    return next(limit.value for limit in held if (limit.measure, limit.stratum) == (measure, stratum))
