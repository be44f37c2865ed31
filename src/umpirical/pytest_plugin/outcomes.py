"""What a test about a judge comes to, as plain data that a report of pytest can carry to another process."""

from typing import Literal, NamedTuple, NoReturn

import pytest

Reliability = Literal["reliable", "not reliable", "inconclusive", "not measured"]
"""`not measured`: the judge could not be asked, or nobody agreed to the price."""


class Finding(NamedTuple):
    """What was found about one judge."""

    outcome: Reliability
    headline: str
    """Judge, decision and policy, in one line."""
    reason: str
    """What decides, in a few lines; empty for a judge that is reliable."""
    datasheet: str = ""
    """Path of the page; empty if there is none."""


FINDINGS = pytest.StashKey[list[dict[str, str]]]()
"""Findings, as plain data, of the phase of a test that has no report yet."""

RAISED = pytest.StashKey[dict[int, tuple[BaseException, Reliability]]]()
"""What assertions of a test have raised, by its id, and the outcome that it stands for. Kept, so that no id recurs."""


def end_test(item: pytest.Item, outcome: Reliability, reason: str, *, inconclusive: str) -> NoReturn:
    """Ends a test. `inconclusive` is how an inconclusive one counts: as a failure, as skipped, or as an xfail.

    Raises Failed, Skipped or XFailed.
    """
    __tracebackhide__ = True
    raised: BaseException = pytest.fail.Exception(reason, pytrace=False)
    if outcome == "inconclusive" and inconclusive == "skip":
        raised = pytest.skip.Exception(f"inconclusive: {reason}")
    elif outcome == "inconclusive" and inconclusive == "xfail":
        raised = pytest.xfail.Exception(f"inconclusive: {reason}")
    item.stash.setdefault(RAISED, {})[id(raised)] = (raised, outcome)
    raise raised
