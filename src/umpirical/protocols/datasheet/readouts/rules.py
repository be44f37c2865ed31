"""The rules by which each readout turns the responses to a pair into verdicts.

A rule takes the presentations of one pair, in one arm and repeat, and gives each of them an outcome. A pair-level rule
with one order missing gives no verdict at all: half of a pair is not half a verdict.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from umpirical.domain.judgments import Abstained, Failed, Outcome, Unparsed, Verdict
from umpirical.domain.readouts import Content, ReadoutName, Span, content_odds, most_likely, preferred, slot_odds
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import Order, Trial
from umpirical.judges.answers import ABSTAIN
from umpirical.judges.logprobs.labels import Undecided

OTHER = "the other order has no verdict"
ALONE = "only one order was asked"
UNKNOWN = "a label is outside the listed log-probabilities, and what is known does not settle the verdict"


@dataclass(frozen=True, slots=True)
class Heard:
    """One presentation of a stimulus, with all that a readout may need to know about it."""

    trial: Trial
    stimulus: Stimulus
    response: Response | None
    outcome: Outcome | None
    """What the parser reads; None if it was not asked."""
    labels: Mapping[str, Span] | Undecided
    """Log-probabilities of the labels."""

    @property
    def order(self) -> Order:
        return self.trial.presentation.order

    @property
    def words(self) -> str:
        return (self.response.text or "") if self.response else ""

    @property
    def mirrored(self) -> bool:
        """Whether both candidates are the same text, so that both orders are one prompt."""
        return len(set(self.stimulus.candidates)) == 1


Rule = Callable[[Sequence[Heard]], list[Outcome | None]]


def rule_of(readout: ReadoutName, *, band: float | None = None) -> Rule:
    """Returns the rule of a readout; `band` is the tie band of `order-averaged`."""
    match readout:
        case "text":
            return lambda pair: [heard.outcome for heard in pair]
        case "logprob":
            return lambda pair: [_by_logprob(heard) for heard in pair]
        case "both-orders":
            return lambda pair: _together(pair, [heard.outcome for heard in pair], _agreed)
        case "order-averaged":
            if band is None:
                raise ValueError("the readout order-averaged needs a tie band")
            return lambda pair: _together(pair, [_with_labels(h) for h in pair], lambda uv, vu: _averaged(uv, vu, band))
        case _:
            assert_never(readout)


def pair_odds(pair: Sequence[Heard]) -> Span | None:
    """Returns the log-odds of content u against v over both orders; None unless they are known for both."""
    by_order = {heard.order: heard.labels for heard in pair}
    uv, vu = by_order.get(Order.UV), by_order.get(Order.VU)
    if uv is None or vu is None or isinstance(uv, Undecided) or isinstance(vu, Undecided):
        return None
    return content_odds(slot_odds(uv), slot_odds(vu))


def _by_logprob(heard: Heard) -> Outcome | None:
    outcome = _with_labels(heard)
    if not isinstance(outcome, Verdict | Abstained) or isinstance(heard.labels, Undecided):
        return outcome
    label = most_likely(heard.labels)
    if label is None:
        return Unparsed(heard.words, UNKNOWN)
    return Abstained() if label == ABSTAIN else Verdict(Choice(label))


def _with_labels(heard: Heard) -> Outcome | None:
    """Returns what the parser reads, or why the labels are unknown."""
    if isinstance(heard.outcome, Verdict | Abstained) and isinstance(heard.labels, Undecided):
        return Unparsed(heard.words, heard.labels.why)
    return heard.outcome


def _together(
    pair: Sequence[Heard],
    outcomes: Sequence[Outcome | None],
    judge: Callable[[Heard, Heard], Content | Outcome],
) -> list[Outcome | None]:
    """Gives both orders one verdict, or neither of them any."""
    if len(pair) == 1 and pair[0].mirrored:
        # The other order is the same prompt, so it would name the same slot there: each content once.
        return [Verdict(Choice.TIE) if isinstance(outcomes[0], Verdict) else outcomes[0]]
    if {heard.order for heard in pair} != {Order.UV, Order.VU}:
        return [_or_why(heard, outcome, ALONE) for heard, outcome in zip(pair, outcomes, strict=True)]
    if not all(isinstance(outcome, Verdict | Abstained) for outcome in outcomes):
        return [_or_why(heard, outcome, OTHER) for heard, outcome in zip(pair, outcomes, strict=True)]
    by_order = {heard.order: heard for heard in pair}
    verdict = judge(by_order[Order.UV], by_order[Order.VU])
    return [_in_slot(verdict, heard) for heard in pair]


def _or_why(heard: Heard, outcome: Outcome | None, why: str) -> Outcome | None:
    return Unparsed(heard.words, why) if isinstance(outcome, Verdict | Abstained) else outcome


def _agreed(uv: Heard, vu: Heard) -> Content | Outcome:
    named = {_content(uv), _content(vu)}
    if named == {None}:
        return Abstained()
    return "u" if named == {"u"} else "v" if named == {"v"} else "tie"


def _content(heard: Heard) -> Content | None:
    """Returns the content that was named, mapped back from its slot; None for an abstention."""
    match heard.outcome:
        case Verdict(value=Choice.TIE):
            return "tie"
        case Verdict(value=value):
            return "u" if (value == Choice.SLOT_1) == (heard.order is Order.UV) else "v"
        case Abstained() | Unparsed() | Failed() | None:
            return None


def _averaged(uv: Heard, vu: Heard, band: float) -> Content | Outcome:
    odds = pair_odds([uv, vu])
    content = None if odds is None else preferred(odds, band=band)
    return Unparsed("", UNKNOWN) if content is None else content


def _in_slot(verdict: Content | Outcome, heard: Heard) -> Outcome:
    """Returns the verdict as an answer to one order."""
    match verdict:
        case "tie":
            return Verdict(Choice.TIE)
        case "u" | "v":
            return Verdict(Choice.SLOT_1 if (verdict == "u") == (heard.order is Order.UV) else Choice.SLOT_2)
        case Unparsed(why=why):
            return Unparsed(heard.words, why)
        case Verdict() | Abstained() | Failed():
            return verdict
