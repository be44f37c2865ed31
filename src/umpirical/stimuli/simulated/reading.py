"""Reads a prompt back into what it was filled with, as a model would: by the words around it."""

import re
from collections.abc import Iterable, Mapping
from functools import cache

from umpirical.stimuli.generation.opinions import Validation
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation
from umpirical.text.templates import occurrences, shipped_template

_VALUES = {"fence": "[0-9a-f]{8}", "target": r"[^\n]*?", "label": r"[^\n]*?", "scale": r"[^\n]*?"}
"""What may stand in a placeholder, if not any text."""


def read_order(
    prompt: str, tests: Iterable[GeneratedPerturbation]
) -> tuple[GeneratedPerturbation, Mapping[str, str]] | None:
    """Returns the test whose prompt this is and what was filled in; None if it is the prompt of none of them."""
    for test in tests:
        if (found := _pattern(test.prompt).fullmatch(prompt)) is not None:
            return test, found.groupdict()
    return None


def read_opinion_prompt(prompt: str) -> tuple[Validation, Mapping[str, str]] | None:
    """Returns what a validator is asked, and about what; None if it is not a validator's prompt."""
    kinds: tuple[tuple[Validation, str], ...] = (("same-grade", "validate-same"), ("target-grade", "validate-grade"))
    for kind, name in kinds:
        if (found := _pattern(shipped_template("umpirical.stimuli.generation", name)).fullmatch(prompt)) is not None:
            return kind, found.groupdict()
    return None


@cache
def _pattern(template: str) -> re.Pattern[str]:
    """Every placeholder as a group. The marks around texts cannot stand in them, so there is one reading only."""
    pieces = re.split(r"\{\{ *[a-z_]+ *\}\}", template)
    pattern, known = re.escape(pieces[0]), set[str]()
    for name, piece in zip(occurrences(template), pieces[1:], strict=True):
        pattern += f"(?P={name})" if name in known else f"(?P<{name}>{_VALUES.get(name, '.*?')})"
        pattern += re.escape(piece)
        known.add(name)
    return re.compile(pattern, re.DOTALL)
