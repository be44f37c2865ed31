"""What a trial is about, in words: what was tested, the result, and texts whose blanks can be seen."""

from collections import Counter
from collections.abc import Mapping, Sequence
from os.path import commonprefix

from umpirical.domain.stimuli import Family
from umpirical.measures.natural import NATURAL
from umpirical.measures.sensitivity import FINE_PART
from umpirical.reports import numbers
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS

MARKS: Mapping[str, tuple[str, str]] = {
    "wrong": ("✗", "wrong"),
    "missing": ("–", "missing"),
    "unscored": ("○", "no single right answer"),
    "right": ("✓", "right"),
}
"""The sign of each `Result`, and its words: no reader depends on the sign alone, or on its color."""

_TESTED: Mapping[str, str] = {
    Family.BLANK: "blank answers",
    Family.EQUAL: "equally good answers",
    Family.GRADED: "one answer better",
    Family.FIGURES: "one answer with more figures right",
    Family.FINE: "one long answer with more details right",
    Family.SUBSET: "different requirements met",
    Family.LENGTH: "same content, one answer longer",
    Family.CONFLICT: "the longer answer is worse",
    Family.OWN_GRADED: "your answer, damaged",
    Family.OWN_EQUAL: "your answer in two layouts",
    Family.OWN_FIGURES: "your answer with other figures",
    Family.ORIGINAL: "the original, unchanged",
    NATURAL: "labeled pair",
}

_PARTS: Mapping[tuple[str, str], str] = {
    (Family.BLANK, "empty"): "empty answers",
    (Family.BLANK, "whitespace"): "whitespace-only answers",
    (Family.BLANK, "identical"): "the same answer twice",
}

_BLANKS = {" ": "space", "\n": "line break", "\t": "tab"}

PREVIEW = 90
"""Characters of a text in a list."""


SHARED = 15
"""Characters that are shown of what texts begin with alike."""


def purpose(family: str, part: str = "", step: float | None = None) -> str:
    """Returns what a trial tests.

    >>> purpose("blank", "empty"), purpose("graded", "", 0.5), purpose("typos")
    ('empty answers', 'half a requirement better', 'typos')
    """
    if (family, part) in _PARTS:
        return _PARTS[family, part]
    if family == Family.GRADED and step:
        size = "half a" if step == 0.5 else numbers.step(step)
        return f"{size} {numbers.units('requirement', max(1, step))} better"
    if family == Family.FINE and (found := FINE_PART.fullmatch(part)):
        return f"answers of {found[2]} details, different in {found[1]}"
    # A plugin's name says enough: its code need not be loaded here.
    words = _TESTED.get(family) or (
        PERTURBATIONS.get(family).title.lower() if PERTURBATIONS.is_built_in(family) else family.replace("-", " ")
    )
    return f"{words}, {part.removeprefix('side=')} answer edited" if part.startswith("side=") else words


def visible(text: str) -> str:
    r"""Returns a text as it is, or a description of one that nobody could see.

    >>> visible(""), visible("    "), visible(" \n"), visible("words")
    ('(empty)', '4 spaces', '1 space, 1 line break', 'words')
    """
    if text.strip():
        return text
    counts = Counter(_BLANKS.get(character, "other blank") for character in text)
    return ", ".join(f"{numbers.count(n)} {numbers.units(name, n)}" for name, n in counts.items()) or "(empty)"


def previews(texts: Sequence[str]) -> list[str]:
    """Returns the beginning of each text; of texts that begin alike, from shortly before where they differ.

    >>> previews([f"{'same ' * 30}{end}" for end in ("left", "right")])
    ['…same same same left', '…same same same right']
    """
    shared = len(commonprefix(list(texts))) if len({*texts}) > 1 else 0  # noqa: RUF071  # texts, not paths
    start = shared - SHARED if shared > PREVIEW // 2 else 0
    return [f"{'…' if start else ''}{preview(text[start:])}" for text in texts]


def preview(text: str, most: int = PREVIEW) -> str:
    """Returns the beginning of a text on one line."""
    words = visible(text[: 4 * most])
    line = " ".join(words.split())
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[:most].rstrip()}…"
