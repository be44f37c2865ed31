"""Writes docs/explanation/crossed-pairs.md: thirty crossed pairs to read, two from each domain.

python docs/explanation/crossed-pairs/write.py            writes the page
python docs/explanation/crossed-pairs/write.py --check    fails if the page is not what the stimuli give
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from umpirical.domain.stimuli import GivenWinner, Stimulus
from umpirical.stimuli.controlled.family_files import Family, builtin_families
from umpirical.stimuli.controlled.ladder.quads import QuadMaker, RequestBalance
from umpirical.stimuli.controlled.tasks import Task, Twin

PAGE = Path(__file__).resolve().parents[1] / "crossed-pairs.md"
HEAD = Path(__file__).resolve().parent / "head.md"

SEED = 0
QUADS_OF_A_DOMAIN = 2
STEPS = (1, 2, 3, 4, 5)
EVERY_FIFTH = 5
"""Every fifth crossed pair is one whose versions differ in the figures given, where the family has figures."""


@dataclass(frozen=True, slots=True)
class Quad:
    """Two texts under two versions of a task."""

    twin: Twin
    stimuli: tuple[Stimulus, Stimulus]

    @property
    def texts(self) -> tuple[str, ...]:
        return self.stimuli[0].candidates


def quads() -> Iterator[Quad]:
    """Two of each domain, from two families where there are two."""
    domains: dict[str, list[Family]] = {}
    for family in builtin_families():
        domains.setdefault(family.domain, []).append(family)
    chosen = [(families[nth % len(families)], nth) for families in domains.values() for nth in range(QUADS_OF_A_DOMAIN)]
    balance = RequestBalance()
    for number, (family, place) in enumerate(chosen):
        figures = family.figures(place, place + 1, number) if number % EVERY_FIFTH == EVERY_FIFTH - 1 else None
        twin = figures or family.asked(place, number)
        # The step moves on by one from domain to domain, so that both crossed pairs of a domain take every step in
        # turn.
        step = min(STEPS[(number + number // len(STEPS)) % len(STEPS)], len(twin.versions[0].requirements))
        maker = QuadMaker(twin, number, SEED, balance)
        first, second = islice(maker.quad(step, 0, rank=number), 2)
        yield Quad(twin, (first, second))


def render_page() -> str:
    shown = [part for number, crossed_pair in enumerate(quads(), 1) for part in _quad(number, crossed_pair)]
    return "\n\n".join([HEAD.read_text(encoding="utf-8").strip(), *shown]) + "\n"


def _quad(number: int, crossed_pair: Quad) -> Iterator[str]:
    a, b = crossed_pair.twin.versions
    yield f"## {number}. {crossed_pair.twin.family}"
    if crossed_pair.twin.kind == "asked":
        yield f"Domain `{crossed_pair.twin.domain}`. The versions ask for different things.\n\n{_fenced(_given(a))}"
        for task in (a, b):
            yield f"Version {task.version} asks:\n\n{_fenced(task.request)}"
    else:
        yield f"Domain `{crossed_pair.twin.domain}`. The versions ask for the same thing but give different figures."
        for task in (a, b):
            yield f"Version {task.version} gives:\n\n{_fenced(_given(task))}"
        yield f"Both ask:\n\n{_fenced(a.request)}"
    for place, text in enumerate(crossed_pair.texts, 1):
        yield f"Text {place}:\n\n{_fenced(text)}"
    answers = [_answer(task, stimulus) for task, stimulus in zip((a, b), crossed_pair.stimuli, strict=True)]
    heading = '<details markdown="1">\n<summary>Which text is better?</summary>'
    answered = "\n".join(answers)
    yield f"{heading}\n\n{answered}\n\n</details>"


def _given(task: Task) -> str:
    return task.prompt.removesuffix(task.request).strip()


def _answer(task: Task, stimulus: Stimulus) -> str:
    """Which text is better under a version, by how much, and what each states of what is asked for."""
    assert isinstance(stimulus.expectation, GivenWinner)  # noqa: S101  # a crossed pair has no other
    better = stimulus.expectation.candidate
    counts = [len(task.stated(text)) for text in stimulus.candidates]
    return (
        f"- Version {task.version}: text {better + 1} is better by {stimulus.delta:g} {_requirements(stimulus.delta)}. "
        f"It states {counts[better]} of {len(task.facts)} facts; text {2 - better} states {counts[1 - better]}."
    )


def _requirements(delta: float) -> str:
    return "requirement" if delta == 1 else "requirements"


def _fenced(text: str) -> str:
    return f"```text\n{text}\n```"


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes or checks the page; 1 if it is not as it should be."""
    parser = argparse.ArgumentParser(description="Writes docs/explanation/crossed-pairs.md from the stimuli.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page differs")
    options = parser.parse_args(arguments)
    page = render_page()
    if not options.check:
        PAGE.write_text(page, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page:
        sys.stderr.write("docs/explanation/crossed-pairs.md is not what the stimuli give\n")
        sys.stderr.write("what to do: run python docs/explanation/crossed-pairs/write.py, and read what has changed\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
