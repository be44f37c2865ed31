"""The datasheet of a readout: that of a judge configuration. What holds by construction is stated, not praised."""

from collections.abc import Sequence

from umpirical.domain.digests import digest
from umpirical.domain.readouts import Readout
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.report import held_to
from umpirical.reports.numbers import ratio
from umpirical.reports.policy import Limit, Policy
from umpirical.reports.record import JudgeRecord

_ORDERS = "by construction: both orders of a pair are read as one verdict, so no slot can be preferred"
_HALVES = "its two halves of a quad would be the same verdicts, and their noise would count as appeal"
_MODEL = "the model takes the two orders for two answers, and this readout makes one of them"

BY_CONSTRUCTION = {
    **dict.fromkeys(
        (
            "positional-false-preference", "one-sided-commit", "one-sided-slot", "one-sided-content",
            "slot-1-rate", "slot-2-rate", "excess-stable", "excess-positional",
            "slot-effect", "label-effect", "list-effect",
        ),
        _ORDERS,
    ),
    **dict.fromkeys(
        (
            "model-threshold", "resolution", "criterion", "slot-bias", "surface-sensitivity", "length-weight", "lapse",
            "goodness-of-fit", "d-prime", "resolution-shift",
        ),
        _MODEL,
    ),
    "text-appeal": _HALVES,
}  # fmt: skip
"""Measures that say nothing about a readout of both orders, and why."""

BOTH_ORDERS = ("both-orders-sensitivity",)
"""What a way of use needs that asks both orders."""

_WORDS = {
    "raw-false-preference": (
        "Calling equal answers equal.",
        "Answers that may be equally good: it still names a winner.",
    ),
    "dark-current": ("", "Answers that may be blank: it names a winner all the same."),
}
"""What a readout of both orders is good for and not for, in place of the policy's words on single calls and vacuum."""

_CLAIMS = (
    f"Nothing here is about order effects, which are taken out {_ORDERS}.",
    (
        "Two identical or two empty answers are one prompt in both orders and tie by construction: dark current is "
        "measured on blank answers that differ."
    ),
)


def readout_judge(judge: JudgeRecord, readout: Readout, *, band: float | None) -> JudgeRecord:
    """Returns the judge with a readout: a configuration of its own, with its own fingerprint."""
    if readout.name == "text":
        return judge
    words = f"readout {readout.name}" + (f", tie band {band_words(band)}" if band is not None else "")
    whole = digest("judge", {"judge": judge.fingerprint, "readout": readout.name, "band": band})
    return judge.model_copy(
        update={"name": f"{judge.name} ({readout.name})", "model": f"{judge.model}; {words}", "fingerprint": whole}
    )


def as_readout(sheet: Datasheet, readout: Readout, *, notes: Sequence[str]) -> Datasheet:
    """Returns a datasheet with the limits and words of its readout; `notes` precede the findings."""
    if readout.name == "text":
        return sheet
    sheet = sheet.model_copy(update={"findings": [*notes, *_not_slots(sheet.findings, readout)]})
    if not readout.pairwise or sheet.policy is None:
        return sheet
    again = held_to(sheet, _pairwise(sheet.policy))
    decision = again.decision
    if decision is not None and decision.verdict in {"use", "use-with-limits"}:
        way = f"Ask both orders of every pair, and read them together by the readout {readout.name}."
        decision = decision.model_copy(update={"use_like_this": [way, *decision.use_like_this]})
    return again.model_copy(
        # A sketch describes how the judge answers, which the readout does not show.
        update={
            "decision": decision,
            "findings": sheet.findings,
            "profile": None,
            "non_claims": [*sheet.non_claims, *_CLAIMS],
        }
    )


def band_words(band: float) -> str:
    return f"{ratio(band)} nats"


def _not_slots(findings: Sequence[str], readout: Readout) -> list[str]:
    """Removes findings about slots: that a slot is never preferred is no finding if it could not be."""
    return [finding for finding in findings if not (readout.pairwise and _ORDERS in finding)]


def _pairwise(policy: Policy) -> Policy:
    """Removes the advice to ask both orders: it has already been done, so it makes up for nothing."""
    limits = tuple(_reworded(limit) for limit in policy.compare if limit.measure not in BY_CONSTRUCTION)
    return policy.model_copy(update={"compare": limits})


def _reworded(limit: Limit) -> Limit:
    good_for, not_for = _WORDS.get(limit.measure, (limit.good_for, limit.not_for))
    cures = tuple(cure for cure in limit.cures if all(need.measure not in BOTH_ORDERS for need in cure.needs))
    return limit.model_copy(update={"cures": cures, "good_for": good_for, "not_for": not_for})
