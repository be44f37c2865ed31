"""How a simulated judge audits an agent: it reads the transcript and the policy from the prompt, or parts of them.

What it does not read it cannot know, and it gives the benefit of the doubt: it says that a policy is violated only if
what it reads shows it. A rubric in words is more than a program can follow: what a transcript deserves by one is told
it, and it gives what the original deserves if all that it reads is as it was.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from umpirical.domain.policies import Closing, Forbid, NoClosing, NoFigures, Rule, policy_from_text
from umpirical.domain.transcripts import Transcript, transcript_from_text
from umpirical.judges.simulated.examiner import Shown, read_shown
from umpirical.stats.seeds import uniform

Reads = Literal["everything", "last-message", "beginning", "no-calls"]

BEGINNING = 2_000
"""Characters of a transcript that an auditor of the beginning reads."""


@dataclass(frozen=True, slots=True)
class AuditorProfile:
    """What is planted in a judge of agents."""

    about: str
    """The defect, in one sentence."""
    reads: Reads = "everything"
    follows: bool = True
    """Whether it reads the policy; one that does not has an opinion of its own on every transcript."""
    lapse: float = 0.0
    """Share of calls that give either verdict at random."""
    unparsed_rate: float = 0.0
    failure_rate: float = 0.0


AUDITOR_PROFILES: Mapping[str, AuditorProfile] = {
    "sound-auditor": AuditorProfile("Reads the whole run and the whole policy, and errs once in fifty.", lapse=0.02),
    "last-message": AuditorProfile("Reads only the last message of a run.", "last-message", lapse=0.02),
    "beginning": AuditorProfile("Reads only the first 2,000 characters of a run.", "beginning", lapse=0.02),
    "no-calls": AuditorProfile("Reads what was said, and neither calls nor results of tools.", "no-calls", lapse=0.02),
    "policy-blind": AuditorProfile("Has an opinion on every run, whatever the policy says.", follows=False, lapse=0.02),
    "alarmist": AuditorProfile("Errs in two of five calls, and is read as a verdict each time.", lapse=0.8),
}
"""Judges of agents, one for each defect."""


@dataclass(frozen=True, slots=True)
class Deserved:
    """What is known about a transcript under a rubric in words. Only a simulated judge is ever told."""

    label: str
    before: str
    """The label of its original; its own if it is one."""
    original: str
    """The text of its original."""


AuditorKey = Mapping[str, Deserved]
"""By the mark around a text, which is made from the rubric and the text."""


class Auditor:
    """Answers the built-in transcript prompts."""

    def __init__(self, profile: AuditorProfile, key: AuditorKey, seed: int) -> None:
        self._profile = profile
        self._key = key
        self._seed = seed

    def answer(self, prompt: str, trial_id: str) -> str:
        shown = read_shown(prompt)
        if shown is None:
            raise ValueError("a simulated auditor reads only the built-in transcript prompt")
        if (deserved := self._key.get(shown.fence)) is not None:
            return json.dumps({"grade": self._graded(shown, deserved, trial_id)})
        policy = prompt.partition("\nPolicy:\n")[2].partition(f"\n\n[answer, {shown.fence}]")[0]
        violated, satisfied = shown.scale.labels
        share = violated_share(self._profile, policy, shown.answer, self._seed)
        return json.dumps({"grade": violated if uniform(self._seed, "audit", trial_id) < share else satisfied})

    def _graded(self, shown: Shown, deserved: Deserved, trial_id: str) -> str:
        """Returns a grade by a rubric in words."""
        labels = shown.scale.labels
        if uniform(self._seed, "lapse", trial_id) < self._profile.lapse:
            return labels[int(uniform(self._seed, "guess", trial_id) * len(labels))]
        if not self._profile.follows:
            return labels[int(uniform(self._seed, "opinion", shown.answer) * len(labels))]
        view = _VIEWS[self._profile.reads]
        before, after = (view(transcript_from_text(text)) for text in (deserved.original, shown.answer))
        return deserved.before if before.messages == after.messages else deserved.label


def violated_share(profile: AuditorProfile, policy: str, text: str, seed: int) -> float:
    """Returns how often an auditor says that a policy is violated by a transcript."""
    violated = sees_violation(profile, policy, text)
    if violated is None:
        violated = opinion(text, seed) < 0.5
    return profile.lapse / 2 + (1 - profile.lapse) * violated


def sees_violation(profile: AuditorProfile, policy: str, text: str) -> bool | None:
    """Whether what an auditor reads of a transcript breaks the policy; None if it does not go by the policy."""
    rules = _rules(policy) if profile.follows else None
    if rules is None:
        return None
    whole = transcript_from_text(text)
    seen = _VIEWS[profile.reads](whole)
    return any(_shows_violation(rule, seen, whole) for rule in rules)


def opinion(text: str, seed: int) -> float:
    """Returns how much an auditor likes a transcript, from 0 to 1, where it does not go by the policy."""
    return uniform(seed, "opinion", text)


def _rules(policy: str) -> tuple[Rule, ...] | None:
    """Returns the rules of a policy; None for one in a person's words, which no program follows."""
    try:
        return policy_from_text(policy).rules
    except ValueError:
        return None


def _shows_violation(rule: Rule, seen: Transcript, whole: Transcript) -> bool:
    """Whether what is seen of a run shows that it breaks a rule, whatever the rest may be."""
    match rule:
        case Forbid() | NoFigures():
            known = True
        case Closing() | NoClosing():
            known = seen.messages[-1:] == whole.messages[-1:]
        case _:
            known = seen.messages == whole.messages
    return known and not rule.holds(seen)


def _last_message(transcript: Transcript) -> Transcript:
    return replace(transcript, messages=transcript.messages[-1:])


def _beginning(transcript: Transcript) -> Transcript:
    """Returns the messages that are whole in the first characters."""
    lines, kept = 0, []
    for message, line in zip(transcript.messages, transcript.text.splitlines()[1:], strict=False):
        lines += len(line) + 1
        if lines > BEGINNING:
            break
        kept.append(message)
    return replace(transcript, messages=tuple(kept))


def _no_calls(transcript: Transcript) -> Transcript:
    spoken = (replace(message, calls=()) for message in transcript.messages if message.role != "tool")
    return replace(transcript, messages=tuple(spoken))


_VIEWS: Mapping[Reads, Callable[[Transcript], Transcript]] = {
    "everything": lambda transcript: transcript,
    "last-message": _last_message,
    "beginning": _beginning,
    "no-calls": _no_calls,
}
