"""The datasheet of a readout: that of a judge configuration. What holds by construction is stated, not praised."""

from collections.abc import Sequence
from dataclasses import replace

from umpirical.domain.digests import digest
from umpirical.domain.readouts import Readout
from umpirical.protocols.datasheet.decision import decide
from umpirical.protocols.datasheet.policy import BOTH_ORDERS, POLICIES
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.reports.limits import Limit, hold_limits
from umpirical.reports.numbers import ratio
from umpirical.reports.record import JudgeRecord

__all__ = ["BY_CONSTRUCTION", "as_readout", "band_words", "readout_judge"]

_ORDERS = "by construction: both orders of a pair are read as one verdict, so no slot can be preferred"
_HALVES = "its two halves of a quad would be the same verdicts, and their noise would count as appeal"
_MODEL = "the model takes the two orders for two answers, and this readout makes one of them"

BY_CONSTRUCTION = {
    **dict.fromkeys(
        (
            "positional-false-preference", "one-sided-commit", "one-sided-slot", "one-sided-content",
            "slot-1-rate", "slot-2-rate", "excess-stable", "excess-positional",
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
    if not readout.pairwise or sheet.decision is None:
        return sheet
    policy = _pairwise(POLICIES[sheet.judge.kind])
    limits = hold_limits(policy, sheet.measures, dict.fromkeys(limit.arm for limit in sheet.limits))
    gates = sheet.stimuli.gates if sheet.stimuli else ()
    decision = decide(policy, limits, complete=sheet.complete, gates=gates, not_measured=_beside(sheet))
    way = f"Ask both orders of every pair, and read them together by the readout {readout.name}."
    usable = decision.verdict in {"use", "use-with-limits"}
    if usable:
        decision = decision.model_copy(update={"use_like_this": [way, *decision.use_like_this]})
    return sheet.model_copy(
        # A sketch describes how the judge answers, which the readout does not show.
        update={"limits": limits, "decision": decision, "profile": None, "non_claims": [*sheet.non_claims, *_CLAIMS]}
    )


def band_words(band: float) -> str:
    return f"{ratio(band)} nats"


def _not_slots(findings: Sequence[str], readout: Readout) -> list[str]:
    """Removes findings about slots: that a slot is never preferred is no finding if it could not be."""
    return [finding for finding in findings if not (readout.pairwise and _ORDERS in finding)]


def _pairwise(policy: Sequence[Limit]) -> tuple[Limit, ...]:
    """Removes the advice to ask both orders: it has already been done, so it makes up for nothing."""
    return tuple(_reworded(limit) for limit in policy if limit.measure not in BY_CONSTRUCTION)


def _reworded(limit: Limit) -> Limit:
    good_for, not_for = _WORDS.get(limit.measure, (limit.good_for, limit.not_for))
    return replace(limit, cure="" if limit.cure == BOTH_ORDERS else limit.cure, good_for=good_for, not_for=not_for)


def _beside(sheet: Datasheet) -> list[str]:
    """Returns what the decision calls not measured, besides its limits."""
    held = [limit for limit in sheet.limits if limit.verdict == "N/A"]
    said = {limit.why for limit in held}
    decision = sheet.decision
    return [] if decision is None else [
        words for words in decision.not_measured if not any(words.endswith(f": {why}.") for why in said)
    ]  # fmt: skip
