"""Judges whose worth is known, as functions of what they are shown: bad ones that must not be accepted, and sound ones.

Each bad judge is listed with the policies whose purpose it fails. A judge that does not check facts may rank answers by
relevance, and one that fails on JSON answers may rank others: `ranking` may then accept it with a restriction.
"""

import re
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from itertools import cycle
from typing import NamedTuple

from tests.protocols.datasheet.end_to_end.judges import audit_judges
from tests.protocols.datasheet.end_to_end.judges.audit_judges import TASKS, perfect
from tests.protocols.datasheet.in_process import Judge
from umpirical.text.sentences import sentences_at_every_stop

EVERY = ("ranking", "adjudication", "claim", "ci-smoke")
SERIOUS = ("ranking", "adjudication", "claim")
"""Not `ci-smoke`, whose wide checks only tell a broken judge."""
STRICT = ("adjudication", "claim")


class Tested(NamedTuple):
    """A judge, and what is known of it."""

    judge: Judge
    fails: tuple[str, ...] = ()
    """The policies whose purpose it fails; none for a sound judge."""


def luck(*parts: str) -> float:
    """From 0 to 1, the same whenever the same is shown."""
    return int.from_bytes(sha256("\0".join(parts).encode()).digest()[:8], "big") / 2**64


def more(one: float | str, two: float | str, band: float = 0.0) -> str:
    """Names the position with more, or a tie within the band."""
    if isinstance(one, str) or isinstance(two, str):
        return "tie" if one == two else "1" if str(one) > str(two) else "2"
    return "tie" if abs(one - two) <= band else "1" if one > two else "2"


def by(score: Callable[[str, str], float | str], band: float = 0.0) -> Judge:
    """Prefers the answer with the higher score under the task."""
    return lambda task, first, second: more(score(task, first), score(task, second), band)


def where(case: Callable[[str, str, str], bool], other: Judge, rest: Judge = perfect) -> Judge:
    """Answers as another judge in some cases."""
    return lambda task, first, second: (other if case(task, first, second) else rest)(task, first, second)


def always(said: str) -> Judge:
    return lambda *_: said


def sometimes(share: float, other: Judge, rest: Judge = perfect, name: str = "") -> Judge:
    """Answers as another judge in this share of calls."""
    return where(lambda *shown: luck("sometimes", name, *shown) < share, other, rest)


def coin(task: str, first: str, second: str) -> str:
    return "12"[luck("coin", task, first, second) < 0.5]


def guess(task: str, first: str, second: str) -> str:
    return ("1", "2", "tie")[int(3 * luck("guess", task, first, second))]


def wrong(task: str, first: str, second: str) -> str:
    """Never gives the right answer."""
    others = [said for said in ("1", "2", "tie") if said != perfect(task, first, second)]
    return others[int(2 * luck("wrong", task, first, second))]


def gap(task: str, first: str, second: str) -> float:
    return abs(TASKS[task].level(first) - TASKS[task].level(second))


# What a judge may look at instead of the task


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def ratio(first: str, second: str) -> float:
    """How many times as long the longer one is; 1 if there is nothing to compare."""
    lengths = sorted((len(first.strip()), len(second.strip())))
    return lengths[1] / lengths[0] if lengths[0] else 1.0


@cache
def request(task: str) -> str:
    """The numbered list at the end."""
    return task[task.rfind("(1)") :]


@cache
def clauses(task: str) -> tuple[frozenset[str], ...]:
    """The first letters of the words of each thing that is asked for."""
    asked = [item.partition(":")[2] for item in re.split(r"\(\d\)", request(task))[1:]]
    parts = [part for item in asked for part in re.split(r"\s(?:and|und|y)\s", item)]
    return tuple(frozenset(word[:4] for word in words(part) if len(word) > 3) for part in parts)


def in_request(task: str, text: str) -> float:
    known = set(words(request(task)))
    said = words(text)
    return sum(word in known for word in said) / max(1, len(said))


def in_task(task: str, text: str) -> float:
    known = set(words(task))
    said = words(text)
    return sum(word in known for word in said) / max(1, len(said))


def clause_match(task: str, text: str) -> float:
    """How well each thing that is asked for is matched by some sentence."""
    said = [{word[:4] for word in words(sentence)} for sentence in re.split(r"(?<=[.!?,])\s+|\n", text)]
    return sum(max((len(one & each) / len(one) for each in said), default=0.0) for one in clauses(task) if one)


def last_clause(task: str, text: str) -> float:
    known = clauses(task)[-1] | clauses(task)[-2]
    return sum(word[:4] in known for word in words(text))


def copied(task: str, text: str) -> float:
    """Runs of three words that the request has too."""
    runs = [" ".join(words(text)[n : n + 3]) for n in range(len(words(text)) - 2)]
    asked = " ".join(words(request(task)))
    return sum(run in asked for run in runs)


def figures(_: str, text: str) -> float:
    return sum(float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text))


def sentences(_: str, text: str) -> float:
    return len(sentences_at_every_stop(text))


def listed(*shown: str) -> bool:
    return any(re.search(r"^- ", text, re.MULTILINE) for text in shown)


def is_json(_: str, first: str, second: str) -> bool:
    return first.lstrip().startswith("{") or second.lstrip().startswith("{")


def is_in(**parts: str) -> Callable[[str, str, str], bool]:
    """Whether the task belongs to one of these parts, such as `language="de es"`."""
    return lambda task, *_: any(TASKS[task].parts[kind] in names.split() for kind, names in parts.items())


def without_facts(task: str, first: str, second: str) -> str:
    """Reads what is asked for, and never the material above it: it sees no difference between figures."""
    return "tie" if TASKS[task].version in {"P", "Q"} else perfect(task, first, second)


def longer(_: str, first: str, second: str) -> str:
    return more(len(first), len(second))


def list_wins(task: str, first: str, second: str) -> str:
    return more(listed(first), listed(second)) if listed(first) != listed(second) else perfect(task, first, second)


_TURN = cycle("12")

BAD = {
    # Judges that do not read
    "always position 1": Tested(always("1"), EVERY),
    "always position 2": Tested(always("2"), EVERY),
    "takes turns": Tested(lambda *_: next(_TURN), EVERY),
    "always a tie": Tested(always("tie"), EVERY),
    "always abstains": Tested(always("abstain"), EVERY),
    "never readable": Tested(always("Both have their merits."), EVERY),
    "coin": Tested(coin, EVERY),
    "guesses": Tested(guess, EVERY),
    "fixed taste": Tested(by(lambda _, text: luck(text.strip())), EVERY),
    "first letter": Tested(by(lambda _, text: text.strip()[:40]), EVERY),
    "always wrong": Tested(wrong, EVERY),
    "prefers the worse one": Tested(audit_judges.upside_down, EVERY),
    # Judges that answer some questions only
    "readable in half of its answers": Tested(sometimes(0.5, always("?")), EVERY),
    "abstains in half of the calls": Tested(sometimes(0.5, always("abstain")), EVERY),
    "abstains unless it is easy": Tested(where(lambda *shown: gap(*shown) <= 1, always("abstain")), EVERY),
    "sees only five requirements": Tested(where(lambda *shown: gap(*shown) < 5, always("tie")), ("claim",)),
    "hides its taste": Tested(audit_judges.hides_its_taste, SERIOUS),
    "right in 80%": Tested(sometimes(0.2, wrong), EVERY),
    "right in 85%": Tested(sometimes(0.15, wrong), SERIOUS),
    "flips a quarter at random": Tested(sometimes(0.25, coin), SERIOUS),
    "right on long tasks": Tested(audit_judges.right_on_longer_tasks, EVERY),
    "right if the better one is longer": Tested(audit_judges.right_if_longer, SERIOUS),
    # Judges that go by the surface
    "longer wins": Tested(longer, EVERY),
    "shorter wins": Tested(lambda task, first, second: longer(task, second, first), EVERY),
    "longer wins unless within 5%": Tested(where(lambda _, *two: ratio(*two) > 1.05, longer), SERIOUS),
    "longer wins from 15%": Tested(audit_judges.likes_length, SERIOUS),
    "longer wins beyond 1.7 times": Tested(where(lambda _, *two: ratio(*two) > 1.7, longer), EVERY),
    "more sentences": Tested(by(sentences, 3), EVERY),
    "more capital letters": Tested(by(lambda _, text: sum(map(str.isupper, text))), EVERY),
    "more digits": Tested(by(lambda _, text: sum(map(str.isdigit, text))), EVERY),
    "a list wins": Tested(list_wins, STRICT),
    # Judges that match words
    "words of the task": Tested(by(in_task), EVERY),
    "words of the request": Tested(by(in_request), EVERY),
    "clauses of the request": Tested(by(clause_match, 0.15), EVERY),
    "copies the request": Tested(by(copied), EVERY),
    "reads the last requirement only": Tested(by(last_clause), EVERY),
    "knows one version of each task": Tested(audit_judges.texts_only, EVERY),
    # Judges that do not check facts
    "never checks a figure": Tested(without_facts, STRICT),
    "prefers larger figures": Tested(where(lambda task, *_: TASKS[task].version in {"P", "Q"}, by(figures)), STRICT),
    # Judges that fail in one part
    "position 1 on JSON": Tested(where(is_json, always("1")), STRICT),
    "ties on JSON": Tested(where(is_json, always("tie")), STRICT),
    "prefers the worse JSON": Tested(where(is_json, audit_judges.upside_down), STRICT),
    "cannot be read on JSON": Tested(where(is_json, always("?")), SERIOUS),
    "position 1 on lists": Tested(where(listed, always("1")), STRICT),
    "position 1 in code reviews": Tested(where(is_in(domain="code-review"), always("1")), STRICT),
    "position 1 in German and Spanish": Tested(where(is_in(language="de es"), always("1")), STRICT),
    "position 1 in German": Tested(where(is_in(language="de"), always("1")), STRICT),
    "coin in dialogues": Tested(where(is_in(domain="dialogue"), coin), STRICT),
    "coin on grounded answers": Tested(where(is_in(domain="grounded-answers"), coin), STRICT),
}  # fmt: skip

SOUND = {
    "perfect": Tested(perfect),
    "1% lapses": Tested(sometimes(0.01, guess, name="one")),
    "2% lapses": Tested(sometimes(0.02, guess, name="two")),
    "1% lapses into a tie": Tested(sometimes(0.01, always("tie"), name="three")),
    "2% lapses into a tie": Tested(sometimes(0.02, always("tie"), name="four")),
    "1% lapses to position 1": Tested(sometimes(0.01, always("1"), name="five")),
    "0.5% unreadable": Tested(sometimes(0.005, always("?"), name="six")),
    "1% abstentions": Tested(sometimes(0.01, always("abstain"), name="seven")),
    "breaks 2% of ties": Tested(
        where(lambda *shown: shown[1].strip() != shown[2].strip() and not gap(*shown), sometimes(0.02, coin))
    ),
    "ties on half a requirement": Tested(where(lambda *shown: gap(*shown) == 0.5, always("tie"))),
    "guesses on half a requirement": Tested(where(lambda *shown: gap(*shown) == 0.5, guess)),
    "misses 5% of single requirements": Tested(
        where(lambda *shown: gap(*shown) == 1, sometimes(0.05, always("tie"), name="nine"))
    ),
}

NOT_EXCLUDED = {
    "memorized": "Knows the test cases by heart: the built-in texts are public.",
    "evaluation-aware": "Answers well if it recognizes a test, and picks position 1 otherwise.",
}
"""Judges that no built-in set can tell from a sound one: on these test cases they give the same answers."""
