"""What a program can see about a generated text: what gives a model away, and what must have stayed or changed."""

import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import median
from typing import get_args

from umpirical.stimuli.perturbations.catalogue import Check, Made
from umpirical.stimuli.similarity import Similarity
from umpirical.text.blocks import headings, markdown_blocks
from umpirical.text.sentences import added_passage, sentences_in_any_script
from umpirical.text.words import (
    UNKNOWN,
    Known,
    common_share,
    edit_distance,
    figures,
    language_of,
    names,
    number_words,
    placeholder_names,
    tellable,
    word_count,
    words,
)

# What gives a text away as made to order: chat around it, or the name of the grade that was asked for.


# Chat.

_REFUSALS = re.compile(
    r"(?:i['’]?m|i am) (?:very |really )?sorry,? (?:but )?(?:i|as)\b"
    r"|sorry, (?:but )?i (?:can|am|will|won)"
    r"|i (?:apologi[sz]e|regret),? (?:but )?i\b"
    r"|as an? (?:ai|artificial intelligence|(?:large )?language model)\b"
    r"|i(?: can(?:no|['’])t| will not| won['’]t|['’]m unable to|['’]m not able to| am unable to| am not able to"
    r"|['’]m not going to| must decline to) "
    r"(?:help|assist|comply|write|rewrite|provide|create|generate|fulfil|produce|do (?:this|that)|complete|continue"
    r"|engage|offer|add|translate|answer|respond|process)"
)
"""How a model begins when it declines. An essay that begins with "I cannot believe" does not."""

_ASSENT = r"(?:sure|certainly|of course|absolutely|okay|ok|understood|got it|no problem)\b[!,.: ]*(?:thing[!,. ]*)?"
_CHANGED = (
    r"(?:re-?wr[io]t\w*|revis\w+|paraphras\w+|rephras\w+|translat\w+|expanded|lengthened|shorten\w*|condensed|modified"
    r"|edited|updated|added)"
)
_ANNOUNCED = re.compile(
    rf"(?:{_ASSENT})?(?:here(?:['’]s| is| are)|below is|the following is|hier ist|voici|aquí"
    r"|ecco|aqui está)\b"
)
_MADE = re.compile(
    rf"\b(?:{_CHANGED}|version|response|text|essay|answer|shorter|longer|requested|fassung|texte|versión|versione"
    r"|versão)\b"
)
"""What an announcement mentions. "Here is why rain matters" mentions none of it."""
_PREAMBLES = re.compile(
    rf"{_ASSENT}$|(?:{_ASSENT})?(?:here you go|(?:i(?:['’]ve| have)|this is (?:the|your|a)) {_CHANGED})\b"
)
_CLOSINGS = re.compile(
    r"^(?:let me know (?:if|whether)|i hope (?:this|that) helps|feel free to|would you like me to|please let me know"
    r"|if you(?:['’]d| would) like (?:me to|any)|note: (?:i|this|the) )"
)
_TITLES = re.compile(
    r"^\W*(?:rewritten|revised|paraphrased|new|expanded|shortened|translated|modified|edited)"
    r"(?: (?:text|response|version|essay|answer))?\W*:"
)


def chat_around(text: str, original: str = "") -> str:
    """What is there besides the text that was asked for: a refusal, a preamble, a closing remark; empty if nothing is.

    Recognised by how the first and last lines begin. What the original has too is not chat.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if not lines:
        return "no text"
    # Only the very beginning of a line counts, and a line may be a whole essay.
    first, last = (line[:300].casefold() for line in (lines[0], lines[-1]))
    own = original.strip().casefold()
    if _REFUSALS.match(first) and not own.startswith(first[:40]):
        return f"a refusal: {lines[0][:60]!r}"
    announced = _ANNOUNCED.match(first) and _MADE.search(first[:120])
    if (announced or _PREAMBLES.match(first) or _TITLES.match(first)) and not own.startswith(first[:40]):
        return f"a preamble: {lines[0][:60]!r}"
    if len(lines) > 1 and _CLOSINGS.match(last) and last[:40] not in own:
        return f"a closing remark: {lines[-1][:60]!r}"
    if first.startswith("```") and last == "```" and not own.startswith("```"):
        return "marks of code around it"
    return ""


# Names of grades.

_GRADE_WORDS = r"(?:scor(?:e|es|ed|ing)|grad(?:e|es|ed|ing)|rat(?:ed|ing)|levels?|marks?|points?|label(?:s|led)?)"

# Words of grading beside a label that is itself a word: "a good point" and "no level" are plain English.
_GRADE_NOUNS = r"(?:scores?|grades?|ratings?|marks?|labels?|verdict)"
_GRADE_VERBS = r"(?:scored|graded|rated|marked|label(?:l)?ed)"
_DESERVES = r"(?:deserv(?:e|es|ed|ing)|merits?|earn(?:s|ed)?|awards?|rates?|gives?|gets?|receives?|assign(?:s|ed)?)"
_IS = r"(?:\s+(?:is|was|of|as|would be|should be|must be|will be))"
_DEGREE = r"(?:\s+(?:an?|the|very|really|quite))?"
_BETWEEN = rf"(?:an?|the|this|that|it|me|essay|answer|response|text|of|as|is|was|be|{_GRADE_NOUNS})"
_OPENING, _CLOSING = "[\"'“”‘’„«»*`\\[(]", "[\"'“”‘’«»*`\\])]"


def times_named(label: str, text: str) -> int:
    """How often a text names a label as a grade.

    A label that is a word also occurs in plain English. It counts as named if it stands in quotation marks after a
    word of grading, or right after such a word and a colon or `is`, and the clause ends there.
    """
    folded = label.casefold().strip()
    if not folded:
        return 0
    named = _figure_named if re.fullmatch(r"[-+]?\d+(?:[.,]\d+)?", folded) else _word_named
    return sum(len(re.findall(pattern, text.casefold(), re.MULTILINE)) for pattern in named(re.escape(folded)))


def _figure_named(label: str) -> tuple[str, ...]:
    near = rf"{_GRADE_WORDS}\W{{0,4}}(?:\w{{1,12}}\W{{1,4}}){{0,3}}{label}(?!\w)"
    before = rf"(?<!\w){label}\W{{0,3}}(?:out of|points?\b|/ ?\d+\W*$)"
    return near, before, rf"^\W*{label}\W*$"


def _word_named(label: str) -> tuple[str, ...]:
    graded = rf"\b(?:{_GRADE_NOUNS}|{_GRADE_VERBS}|{_DESERVES})\b"
    quoted = rf"{graded}\W{{1,3}}(?:{_BETWEEN}\W{{1,2}}){{0,4}}?(?<=[\s:(]){_OPENING}{label}[.,]?{_CLOSING}"
    ends = r"(?=\W*(?:$|[.,;:!?])|\s+(?:because|since|as|for|by|and|but|in|from)\b)"
    after_colon = rf"\b{_GRADE_NOUNS}{_CLOSING}*\s*[:=]{_CLOSING}*\s*{label}(?!\w){ends}"
    said = rf"\b(?:{_GRADE_NOUNS}{_IS}|{_GRADE_VERBS}(?:\s+as)?){_DEGREE}\s+{label}(?!\w){ends}"
    # "Grade B" is a grade, whereas "grade no" is half a sentence.
    letter = (rf"\b{_GRADE_NOUNS}\s+{label}(?!\w){ends}",) if re.fullmatch(r"\w(?:\\?[+-])?", label) else ()
    return quoted, after_colon, said, *letter


# What a program checks about a generated text, independently of any model's opinion.
#
# Each function makes a `Check`. None of them raises, whatever the text; and none of them shows that two texts mean the
# same, which is what validators are asked.

LEAST_COMMON = 0.1
"""Share of commonest words by which a text whose language is not clear still passes for that of its original."""


def not_a_copy() -> Check:
    """It does not have the words of its original, nor those of a text that it must not repeat."""

    def found(made: Made) -> str:
        changed = words(made.changed)
        if changed == words(made.original):
            return "the words of the original"
        if any(len(changed) == word_count(other) and changed == words(other) for other in made.others):
            return "the words of another text"
        return "other words"

    return _check("not a copy", "other words", found, lambda made: found(made) == "other words")


def not_a_refusal() -> Check:
    """It is the bare text that was asked for: no refusal, nothing said to the person who asked, no marks around it."""

    def found(made: Made) -> str:
        return chat_around(made.changed, made.original) or "the text alone"

    return _check("bare text", "the text alone", found, lambda made: found(made) == "the text alone")


def length_ratio(low: float, high: float) -> Check:
    """The number of its words, as a multiple of its original's."""

    def ratio(made: Made) -> float | None:
        before = len(words(made.original))
        return len(words(made.changed)) / before if before else None

    def found(made: Made) -> str:
        before, after, times = len(words(made.original)), len(words(made.changed)), ratio(made)
        return "the original has no words" if times is None else f"{times:.2f} ({after} words for {before})"

    return _check("length ratio", f"{low:g} to {high:g}", found, lambda made: _within(ratio(made), low, high))


def length_like_others(low: float, high: float) -> Check:
    """The number of its words, as a multiple of the median of the texts that it must not repeat."""

    def ratio(made: Made) -> float | None:
        lengths = [length for other in made.others if (length := word_count(other))]
        return len(words(made.changed)) / median(lengths) if lengths else None

    def found(made: Made) -> str:
        times, after = ratio(made), len(words(made.changed))
        return f"{after} words, none to compare with" if times is None else f"{times:.2f} ({after} words)"

    def passed(made: Made) -> bool:
        times = ratio(made)
        return times is None or low <= times <= high

    return _check("length like others", f"{low:g} to {high:g} times the median of the others", found, passed)


def edit_scope(*, lost: tuple[float, float] = (0.0, 1.0), added: tuple[float, float] = (0.0, math.inf)) -> Check:
    """The share of the original's words that is gone, and the words that were added, as a share of the original's."""

    def found(made: Made) -> str:
        edit = edit_distance(made.original, made.changed)
        gone, new = edit.share(edit.lost), edit.share(edit.added)
        if gone is None or new is None:
            return "the original has no words"
        return f"{gone:.0%} lost, {new:.0%} added, of {edit.original} words"

    def passed(made: Made) -> bool:
        edit = edit_distance(made.original, made.changed)
        return _within(edit.share(edit.lost), *lost) and _within(edit.share(edit.added), *added)

    allowed = f"{_percents(*lost)} lost, {_percents(*added)} added"
    return _check("edit scope", allowed, found, passed)


def only_insertions(most: int, *, least: int = 3) -> Check:
    """The original stands in it whole, with one passage of `least` to `most` words put in between its sentences.

    This is a proof: without the passage the original is left, but for blank space and the shape of quotation marks.
    """

    def found(made: Made) -> str:
        passage = added_passage(made.original, made.changed)
        if passage is not None:
            return f"one passage of {len(words(passage.text))} words {passage.place}, everything else unchanged"
        edit = edit_distance(made.original, made.changed)
        return f"no single passage: {edit.lost} of {edit.original} words lost, {edit.added} added"

    def passed(made: Made) -> bool:
        passage = added_passage(made.original, made.changed)
        return passage is not None and least <= len(words(passage.text)) <= most

    return _check(
        "only insertions", f"one passage of {least} to {most} words, everything else unchanged", found, passed
    )


def adds_words(what: str, listed: str, *, per_hundred: float) -> Check:
    """It has more words of a kind than its original: at least one, and `per_hundred` for every 100 of the original's.

    `listed` are the words, with blanks between them; `profess*` stands for all that begin like that. They are in Latin
    script: in a text of another script nothing is looked for, and the record says so.
    """
    held = _counter(listed)

    def needed(made: Made) -> int:
        return max(1, math.ceil(per_hundred * len(words(made.original)) / 100))

    def more(made: Made) -> int:
        return held(made.changed) - held(made.original)

    def found(made: Made) -> str:
        return _unlisted(made) or f"{more(made)} more than the original, {needed(made)} needed"

    return _check(
        f"adds {what}",
        f"at least 1 more than the original, and {per_hundred:g} for 100 words",
        found,
        lambda made: bool(_unlisted(made)) or more(made) >= needed(made),
    )


def passage_of(what: str, listed: str) -> Check:
    """Every sentence of the one passage that was added has a word of a kind, so that it speaks of nothing else.

    The words are given as for `adds_words`, and looked for under the same condition.
    """
    held = _counter(listed)

    def lacking(made: Made) -> list[str] | None:
        passage = added_passage(made.original, made.changed)
        if passage is None:
            return None
        return [sentence for sentence in sentences_in_any_script(passage.text) if not held(sentence)]

    def found(made: Made) -> str:
        without = lacking(made)
        if without is None:
            return "no single passage"
        return _unlisted(made) or (f"not in {without[0][:60]!r}" if without else "in every sentence added")

    return _check(
        f"passage of {what}",
        "in every sentence added",
        found,
        lambda made: (without := lacking(made)) is not None and (not without or bool(_unlisted(made))),
    )


def _counter(listed: str) -> Callable[[str], int]:
    exact = frozenset(word for word in listed.split() if not word.endswith("*"))
    starts = tuple(word[:-1] for word in listed.split() if word.endswith("*"))
    return lambda text: sum(word in exact or word.startswith(starts) for word in words(text))


def _unlisted(made: Made) -> str:
    """Why words are not looked for in a text; empty if they are."""
    language = language_of(made.changed)
    return "" if language in (*get_args(Known), UNKNOWN) else f"not checked in {language}"


def similarity_between(low: float, high: float, measure: Similarity) -> Check:
    """How similar it is to its original, as a guard against garbage and copies. That says nothing about meaning."""

    def value(made: Made) -> float:
        return measure.between(made.original, made.changed)

    return _check(
        "similarity",
        f"{low:g} to {high:g}",
        lambda made: f"{value(made):.2f} by {measure.name}",
        lambda made: low <= value(made) <= high,
    )


def unlike_others(measure: Similarity, *, most: float | None = None, whom: str = "") -> Check:
    """It repeats none of the others; by default, none of them is a near copy by the measure's own limit.

    `whom` says who the others are, if they are not those of the same label.
    """
    limit = measure.near_copy if most is None else most

    # What was found is asked for right after whether it passed, so one result is enough.
    @lru_cache(maxsize=1)
    def alike(text: str, others: tuple[str, ...]) -> tuple[float, ...]:
        return tuple(measure.to_each(text, others))

    def found(made: Made) -> str:
        if not made.others:
            return "no others"
        values = alike(made.changed, tuple(made.others))
        return f"at most {max(values):.2f} like one of {len(values)} others, by {measure.name}"

    def passed(made: Made) -> bool:
        return all(value < limit for value in alike(made.changed, tuple(made.others)))

    return _check("unlike others", f"less than {limit:g} like each{f' of {whom}' if whom else ''}", found, passed)


def keeps_numbers() -> Check:
    """Every number in figures is kept, as figures or as a word, and no other figure comes in."""

    def found(made: Made) -> str:
        lost, new = _lost_numbers(made.original, made.changed), _lost_numbers(made.changed, made.original)
        kept = len(figures(made.original)) - len(lost)
        return f"{kept} kept{_listed('lost', lost)}{_listed('new', new)}"

    def passed(made: Made) -> bool:
        return not (_lost_numbers(made.original, made.changed) or _lost_numbers(made.changed, made.original))

    return _check("numbers", "all kept, none new", found, passed)


def keeps_names(share: float = 0.8) -> Check:
    """Names are kept: capitalised words inside a sentence. Not checked in German, where every noun is capitalised."""

    def lost(made: Made) -> list[str]:
        held = set(words(made.changed))
        # A name may have got an ending, or stand in a compound.
        return sorted(name for name in names(made.original) if not any(word.startswith(name) for word in held))

    def german(made: Made) -> bool:
        return language_of(made.original) == "German"

    def found(made: Made) -> str:
        if german(made):
            return "not checked in German"
        all_names, gone = names(made.original), lost(made)
        return f"{len(all_names) - len(gone)} of {len(all_names)} kept{_listed('lost', gone)}"

    def passed(made: Made) -> bool:
        return german(made) or len(lost(made)) <= (1 - share) * len(names(made.original)) + 1e-9

    return _check("names", f"at least {share:.0%} kept", found, passed)


def keeps_placeholders() -> Check:
    """Placeholders for removed names, such as PROPER_NAME, are all kept, and no new ones come in."""

    def changes(made: Made) -> tuple[list[str], list[str]]:
        before, after = placeholder_names(made.original), placeholder_names(made.changed)
        return sorted(before - after), sorted(after - before)

    def found(made: Made) -> str:
        lost, new = changes(made)
        kept = len(placeholder_names(made.original)) - len(lost)
        return f"{kept} kept{_listed('lost', lost)}{_listed('new', new)}"

    return _check("placeholders", "all kept, none new", found, lambda made: changes(made) == ([], []))


def language_same() -> Check:
    """It is in the language of its original, or of its task if it was written from scratch, as far as that shows."""

    def languages(made: Made) -> tuple[str, str]:
        return language_of(made.original or made.task), language_of(made.changed)

    def passed(made: Made) -> bool:
        before, after = languages(made)
        if before in (after, UNKNOWN) or not tellable(made.changed):
            return True
        known = next((language for language in get_args(Known) if language == before), None)
        return after == UNKNOWN and known is not None and common_share(made.changed, known) >= LEAST_COMMON

    return _check("language", "that of the original", lambda made: _languages(*languages(made)), passed)


def language_other(to: Known, *, instead: Known) -> Check:
    """It is in the language `to`, or, if its original is in that one, in the language `instead`."""

    def passed(made: Made) -> bool:
        before, after = language_of(made.original), language_of(made.changed)
        return after == (instead if before == to else to)

    def found(made: Made) -> str:
        return _languages(language_of(made.original), language_of(made.changed))

    return _check("language", f"{to}, or {instead} for a text in {to}", found, passed)


def keeps_content() -> tuple[Check, ...]:
    """What a rewriting must keep, as far as a program can see: figures, names, placeholders and the language."""
    return keeps_numbers(), keeps_names(), keeps_placeholders(), language_same()


def keeps_structure(share: float) -> Check:
    """It has as many paragraphs, list items and headings as its original, but for `share` of each, rounded.

    So a kind that the original does not have, the text does not have either.
    """

    def found(made: Made) -> str:
        before, after = _structure(made.original), _structure(made.changed)
        return ", ".join(f"{after[kind]} {kind} for {before[kind]}" for kind in before)

    def passed(made: Made) -> bool:
        before, after = _structure(made.original), _structure(made.changed)
        return all(abs(after[kind] - count) <= round(share * count) for kind, count in before.items())

    return _check("structure", f"as many of each, within {share:.0%}", found, passed)


def _structure(text: str) -> dict[str, int]:
    blocks = markdown_blocks(text)
    return {
        "paragraphs": sum(block.kind == "prose" for block in blocks),
        "list items": sum(block.kind == "item" for block in blocks),
        "headings": sum(heading.marked for heading in headings(text)),
    }


def mentions_no_label() -> Check:
    """It does not name the grade it was written for: `score: 3`, `deserves a grade of "good"`, `3 out of 6`, `3/6`."""

    def mentions(made: Made) -> int:
        return max(0, times_named(made.target, made.changed) - times_named(made.target, made.original))

    return _check(
        "names no grade",
        "not named",
        lambda made: f"named {times} times" if (times := mentions(made)) else "not named",
        lambda made: mentions(made) == 0,
    )


def _check(name: str, allowed: str, found: Callable[[Made], str], passed: Callable[[Made], bool]) -> Check:
    return Check(name, allowed, found, passed)


def _within(value: float | None, low: float, high: float) -> bool:
    return value is not None and low <= value <= high


def _percents(low: float, high: float) -> str:
    return f"at least {low:.0%}" if high == math.inf else f"{low:.0%} to {high:.0%}"


def _lost_numbers(before: str, after: str) -> list[str]:
    held = {*figures(after), *number_words(after)}
    return sorted(number for number in figures(before) if number not in held)


def _listed(what: str, found: Sequence[str]) -> str:
    shown = ", ".join(found[:5]) + (" …" if len(found) > 5 else "")
    return f", {len(found)} {what} ({shown[:120]})" if found else ""


def _languages(before: str, after: str) -> str:
    return after if before == after else f"{after}, the original {before}"
