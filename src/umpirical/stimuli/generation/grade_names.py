"""Where a text names a grade: as an author would who knows which one was asked for."""

import re

__all__ = ["times_named"]

_GRADE_WORDS = r"(?:scor(?:e|es|ed|ing)|grad(?:e|es|ed|ing)|rat(?:ed|ing)|levels?|marks?|points?|label(?:s|led)?)"

# Words that speak of grading beside a label that is a word itself: "a good point" and "no level" are plain English.
_GRADE_NOUNS = r"(?:scores?|grades?|ratings?|marks?|labels?|verdict)"
_GRADE_VERBS = r"(?:scored|graded|rated|marked|label(?:l)?ed)"
_DESERVES = r"(?:deserv(?:e|es|ed|ing)|merits?|earn(?:s|ed)?|awards?|rates?|gives?|gets?|receives?|assign(?:s|ed)?)"
_IS = r"(?:\s+(?:is|was|of|as|would be|should be|must be|will be))"
_DEGREE = r"(?:\s+(?:an?|the|very|really|quite))?"
_BETWEEN = rf"(?:an?|the|this|that|it|me|essay|answer|response|text|of|as|is|was|be|{_GRADE_NOUNS})"
_OPENING, _CLOSING = "[\"'“”‘’„«»*`\\[(]", "[\"'“”‘’«»*`\\])]"


def times_named(label: str, text: str) -> int:
    """How often a text names a label as a grade.

    A label that is a word is one of plain English too. It counts as named where it stands in quotation marks after a
    word of grading, or right after such a word and a colon or `is`, and the clause ends there.
    """
    folded = label.casefold().strip()
    if not folded:
        return 0
    named = _figure_named if re.fullmatch(r"[-+]?\d+(?:[.,]\d+)?", folded) else _word_named
    return sum(len(re.findall(pattern, text.casefold(), re.MULTILINE)) for pattern in named(re.escape(folded)))


def _figure_named(label: str) -> tuple[str, ...]:
    """How a text names a grade that is a number."""
    near = rf"{_GRADE_WORDS}\W{{0,4}}(?:\w{{1,12}}\W{{1,4}}){{0,3}}{label}(?!\w)"
    before = rf"(?<!\w){label}\W{{0,3}}(?:out of|points?\b|/ ?\d+\W*$)"
    return near, before, rf"^\W*{label}\W*$"


def _word_named(label: str) -> tuple[str, ...]:
    """How a text names a grade that is a word, or a letter."""
    graded = rf"\b(?:{_GRADE_NOUNS}|{_GRADE_VERBS}|{_DESERVES})\b"
    quoted = rf"{graded}\W{{1,3}}(?:{_BETWEEN}\W{{1,2}}){{0,4}}?(?<=[\s:(]){_OPENING}{label}[.,]?{_CLOSING}"
    ends = r"(?=\W*(?:$|[.,;:!?])|\s+(?:because|since|as|for|by|and|but|in|from)\b)"
    after_colon = rf"\b{_GRADE_NOUNS}{_CLOSING}*\s*[:=]{_CLOSING}*\s*{label}(?!\w){ends}"
    said = rf"\b(?:{_GRADE_NOUNS}{_IS}|{_GRADE_VERBS}(?:\s+as)?){_DEGREE}\s+{label}(?!\w){ends}"
    # "Grade B" is a grade, where "grade no" is half a sentence.
    letter = (rf"\b{_GRADE_NOUNS}\s+{label}(?!\w){ends}",) if re.fullmatch(r"\w(?:\\?[+-])?", label) else ()
    return quoted, after_colon, said, *letter
