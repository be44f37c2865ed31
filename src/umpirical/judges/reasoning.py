"""Finds what a judge's reasoning says outright: which candidate is better, that neither is, or which grade is due.

Only what is said without a condition, a negation or a restriction to one aspect is a statement. Much is therefore not
found; what is found should be what a person would have read. Every step takes time proportional to the text.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from umpirical.domain.judgments import Grade, Outcome, ReasoningFinding, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice, GradeScale
from umpirical.domain.trials import Presentation
from umpirical.judges.answers import AnswerReader

STANDARD = {"A": "1", "B": "2"}
"""What candidates are called if the answers themselves do not say it: A>>B names no candidate alone."""

LONGEST = 100_000
"""Characters that are looked at, from the end: the last statement is what counts."""

ORDINALS = {"first": "1", "second": "2"}

_NOUN = (
    r"(?:assistant|response|answer|candidate|model|output|option|solution|summary|text|completion|reply|system|chatbot|"
    r"version|translation|essay|submission)"
)
_AFTER_LETTER = (
    r"(?=\s+(?:is|was|are|were|and|or|over|than|wins?|won|beats?|loses|lost|outperforms|surpasses|edges|has|seems|appears|looks|"
    r"remains|does|did|performs|fares|comes|gets|takes|prevails|clearly|overall|slightly|still|by|here)\b"
    r"|\s*(?:[.,;:!?)\]'’<>=]|$))"
)
"""What may follow a letter that is a name: in `A response is better`, A is an article."""

_QUOTED = re.compile(r"[\"“]([^\"“”\n]*)[\"”]")
_TAG = re.compile(r"</?[A-Za-z][\w.-]{0,40}>")
_BRACKETED = re.compile(r"\[\[([^\[\]\n]*)\]\]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_CLAUSE = re.compile(
    r"[,;()—–]|\s-\s|\b(?:but|although|though|while|whereas|however|yet|so(?! that))\b"
    r"|\b(?:therefore|thus|hence|because|since)\b"
    r"|\band\b(?=\s+(?:the\s+)?§[12]\s+(?:is|was|wins|does)\b)"
)
_NEGATED = re.compile(r"\b(?:not|no|never|neither|nor|none|nothing|hardly|cannot|without|doubt|unclear)\b|n['’]t\b")
_CONDITION = re.compile(
    r"\b(?:if|unless|whether|assuming|suppose|supposing|imagine|which of|which one|decide which|determine which|"
    rf"which {_NOUN})\b"
)
"""Makes the rest of the sentence a condition, or a question."""
_OPINION = re.compile(
    r"\b(?:claims?|claimed|says|asserts?|insists?|argues?|according to|at first|initially|one might|one could|"
    r"some (?:people|readers|users))\b"
)
"""Makes what follows somebody else's opinion, or an earlier one, as far as the next `but`."""
_TURN = re.compile(r"\b(?:but|however|yet)\b")
_SUBJECT = re.compile(rf"\b(?:it|this|that|i|we|overall|final|verdict|decision|conclusion|label|{_NOUN})\b")
_MODAL = re.compile(r"\b(?:would|could|might|may|should|must|need|needs|were)\b")
_OWN_OPINION = re.compile(
    r"\bi(?:\s+would|['’]d)\s+(?=(?:say|choose|pick|go|rate|give|grade|score|argue|prefer|select)\b)"
)
_ASIDE = re.compile(r"\s*(?:to|for|unlike|instead of|rather than|compared (?:to|with))\b")

_FIRM = (
    r"(?:\s+(?:clearly|slightly|much|overall|also|still|definitely|marginally|somewhat|significantly|far|a bit|"
    r"a little|considerably|ultimately|simply|just|by far|noticeably|substantially|on balance|narrowly|probably|"
    r"the|a|an))*"
)
_BE = r"(?:is|was|seems|appears|looks|remains|comes out(?: as)?|stands out as|proves)(?:\s+to\s+be)?"
_THING = rf"(?:\s+(?:{_NOUN}|one|choice|of the two|overall))*"
_THAN = r"(?:\s+(?:than|to|over)\s+(?:the\s+)?§[12])?"
_END = re.compile(
    r"\s*(?:[.!:*\]]*$|overall\b|here\b|in general\b|on balance\b|by\b|and\b|as\b|in (?:every|all|my|most)\b"
    r"|for this (?:task|question|prompt|request)\b|again\b|[.!]\s)"
)
_WON = (
    r"(?:wins|won|beats|outperforms|outperformed|surpasses|edges out|outshines|prevails|comes out on top|gets my vote|"
    r"has the edge|takes the win)"
)

_DECISION = (
    r"\b(?:winner|verdict|choice|preference|decision|pick|judge?ment|final answer|"
    rf"(?:better|best|stronger) (?:one|{_NOUN}))"
)
_IT = r"\b(?:it|this|that|the result|the verdict|verdict|result)"

_PREFERENCES = [
    (re.compile(pattern), won)
    for pattern, won in (
        (rf"§(\d)\s+{_BE}{_FIRM}\s+(?:better|best|superior|stronger|preferable|preferred|winner|clear winner)", True),
        (rf"§(\d)\s+{_BE}{_FIRM}\s+(?:worse|worst|inferior|weaker)", False),
        (rf"§(\d){_FIRM}\s+{_WON}(?=\W|$)(?:\s+(?:the\s+)?§\d)?", True),
        (rf"§(\d){_FIRM}\s+(?:loses|lost|is outperformed|is beaten|is surpassed)(?:\s+(?:to|by)\s+§\d)?", False),
        (rf"§(\d)\s+(?:does|did|performs|performed|fares){_FIRM}\s+better(?:\s+job)?", True),
        (rf"§(\d)\s+(?:does|did|performs|performed|fares){_FIRM}\s+worse(?:\s+job)?", False),
        (r"\b(?:i|we)\b(?:\s+\w+){0,2}\s+(?:prefer|choose|pick|select|favou?r|go with|vote for)\s+§(\d)", True),
        (rf"{_DECISION}\s*(?:is|goes to|:|=)[\s:]*(?:clearly\s+|therefore\s+)?§(\d)", True),
        (r"\bin favou?r of\s+§(\d)", True),
        (r"§(\d)\s*>{1,2}\s*(?=§)", True),
    )
]
_ADJECTIVE = r"(?:good|bad|poor|strong|weak|helpful|unhelpful|correct|incorrect|valid|wrong|useful|well done)"
_TIES = [
    re.compile(pattern)
    for pattern in (
        rf"\b(?:both|they|the two|all)\b[^,;§]{{0,60}}\bequally\s+{_ADJECTIVE}",
        rf"§\d\s+and\s+(?:the\s+)?§\d\s+(?:are|were|seem|appear)(?:\s+\w+)?\s+equally\s+{_ADJECTIVE}",
        r"(?:\b(?:both|they|the two)\b[^,;§]{0,40}|§\d and §\d )\b(?:are|is)\s+(?:on (?:a )?par|of equal quality|tied)",
        rf"{_IT}(?:\s+is|['’]s|:)(?:\s+\w+)?\s+(?:a\s+)?(?:tie|draw)\b",
        r"\b(?:call|declare)\s+(?:it\s+|this\s+)?a\s+(?:tie|draw)\b",
        r"§\d\s*=\s*§\d",
        r"§t",
    )
]
_NO_WINNER = [
    re.compile(pattern)
    for pattern in (
        rf"\bneither\b(?:\s+(?:of them|of the two|one|{_NOUN}))?\s+(?:{_BE}{_FIRM}\s+(?:better|superior)|wins)",
        r"\bthere is no (?:clear |obvious )?winner",
        r"\bno (?:clear |meaningful |real |significant )?difference in (?:overall )?quality",
    )
]
"""Ties whose own words are negations."""


class Statements:
    """Reads statements in the words of one judge. Pure: the same text states the same."""

    def __init__(self, scale: GradeScale | None, words: Mapping[str, str], *, ordinals: bool = True) -> None:
        """`words` maps what the judge may answer to labels; `ordinals`: whether the first candidate is position 1."""
        self._scale, self._words = scale, {word.casefold(): label for word, label in words.items()}
        slots = {word: label for word, label in words.items() if label in ORDINALS.values() and word.isalnum()}
        names = (slots or STANDARD) | ({} if not ordinals or ORDINALS.keys() & words.keys() else ORDINALS)
        self._names = re.compile("|".join(_name(place, *name) for place, name in enumerate(names.items())))
        # A longer label is tried before one that it begins with.
        labels = sorted(map(re.escape, self._words), key=len, reverse=True)
        self._grades = _grade_patterns("|".join([*labels, r"[-+]?\d+(?:\.\d+)?"]))

    def last(self, reasoning: str) -> Choice | Grade | None:
        """Returns what the last statement in a text says; None if it states nothing."""
        reasoning = reasoning[-LONGEST:]
        found: Choice | Grade | None = None
        for sentence in _SENTENCE.split(self._marked(reasoning)):
            if sentence.rstrip().endswith("?"):
                continue
            for clause in _certain_clauses(sentence):
                said = self._stated(clause)
                found = found if said is None else said
        return found

    def _marked(self, text: str) -> str:
        """Returns the text in small letters, with §1 and §2 for the candidates and without longer quotations."""
        text = _QUOTED.sub(lambda match: " … " if re.search(r"\s", match[1].strip()) else match[1], text)
        text = re.sub(r"[ \t]+", " ", _TAG.sub("\n", text).replace("*", "").replace("`", ""))
        text = _BRACKETED.sub(lambda match: self._bracketed(match[1]), text)
        if self._scale is None:
            text = self._names.sub(lambda match: f"§{(match.lastgroup or '')[1]}", text)
        return _OWN_OPINION.sub("i ", text.lower())

    def _bracketed(self, word: str) -> str:
        label = self._words.get(word.strip().casefold())
        if self._scale is not None:
            return f" verdict: {word} "
        return " §t " if label == Choice.TIE else f" verdict: §{label} " if label in ORDINALS.values() else " "

    def _stated(self, clause: str) -> Choice | Grade | None:
        if self._scale is not None:
            return None if _MODAL.search(clause) or _ASIDE.match(clause) else self._graded(clause)
        if any(_ends(pattern.search(clause), clause) for pattern in _NO_WINNER):
            return Choice.TIE
        if _MODAL.search(clause):
            return None
        return _preferred(clause)

    def _graded(self, clause: str) -> Grade | None:
        negated, subject = _first(_NEGATED, clause), _first(_SUBJECT, clause)
        stated: Grade | None = None
        for pattern in self._grades:
            for match in pattern.finditer(clause):
                ending = _NUMBER_ENDS if match[1][-1].isdigit() else _WORD_ENDS
                # `Clarity deserves a 4` is about clarity.
                whole = subject < match.end() or not clause[: match.start()].strip(" :")
                if whole and negated >= match.start(1) and ending.match(clause, match.end()):
                    stated = self._on_scale(match[1])
        return stated

    def _on_scale(self, word: str) -> Grade | None:
        """Returns the grade that a word names; None if it is on no place of the scale, or no grade."""
        assert self._scale is not None  # noqa: S101  # grades are looked for only then
        label = self._words.get(word)
        if label is None and re.fullmatch(r"[-+]?\d+\.0+", word):
            label = self._words.get(word.partition(".")[0])
        if label is not None:
            return label if label in self._scale.labels else None
        if self._scale.kind == "interval" and re.fullmatch(r"[-+]?\d+(?:\.\d+)?", word):
            return float(word) if self._scale.holds(float(word)) else None
        return None


def _certain_clauses(sentence: str) -> Iterator[str]:
    """Yields the clauses of a sentence that are neither under a condition nor somebody else's opinion."""
    for part in _TURN.split(sentence):
        denied = False
        for clause in _CLAUSE.split(part):
            if _CONDITION.search(clause):
                return
            # `It is not the case, as some think, that A is better`: the negation is in another clause.
            if _OPINION.search(clause) or (denied and clause.lstrip().startswith("that ")):
                break
            denied = denied or _NEGATED.search(clause) is not None
            yield clause


def _name(place: int, word: str, label: str) -> str:
    """Returns the pattern of one candidate's name; the group says which position it is."""
    # In small letters, the last word of `the answer a user wants` would be a name too.
    escaped, group = re.escape(word) if len(word) == 1 else f"(?i:{re.escape(word)})", f"s{label}_{place}"
    own = rf"(?i:['’]s\s+{_NOUN}\b)?"
    if word in ORDINALS:
        return rf"(?P<{group}>(?i:\b(?:the\s+)?(?:{word}\s+(?:{_NOUN}|one)|{_NOUN}\s+{word}))\b{own})"
    named = rf"(?i:\b(?:the\s+)?{_NOUN})\s?[#(]?{escaped}\b\)?{own}"
    if word.isdigit():
        return rf"(?P<{group}>{named})"
    return rf"(?P<{group}>{named}|\b{escaped}\b{own}{_AFTER_LETTER})"


def _preferred(clause: str) -> Choice | None:
    """Returns the candidate that a clause prefers, or the tie that it states: whatever comes last in it."""
    stated: list[tuple[int, Choice]] = []
    negated = _first(_NEGATED, clause)
    for pattern, won in _PREFERENCES:
        for match in pattern.finditer(clause):
            if negated >= match.end() and _ends(match, clause):
                slot = match[1] if won else "2" if match[1] == "1" else "1"
                stated.append((match.start(), Choice(slot)))
    ties = (match for pattern in _TIES for match in pattern.finditer(clause))
    stated += [(match.start(), Choice.TIE) for match in ties if negated >= match.end() and _ends(match, clause)]
    return max(stated)[1] if stated else None


def _first(pattern: re.Pattern[str], clause: str) -> int:
    """Returns where a pattern is first found; the end if nowhere. Looked up once, however many statements there are."""
    match = pattern.search(clause)
    return match.start() if match else len(clause)


_REST = re.compile(rf"{_THING}{_THAN}{_THING}")


def _ends(match: re.Match[str] | None, clause: str) -> bool:
    """Whether what follows leaves a statement whole: `better at jokes` is about one aspect."""
    if match is None:
        return False
    if clause.startswith("§", match.end()):
        return True
    rest = _REST.match(clause, match.end())
    return _END.match(clause, rest.end() if rest else match.end()) is not None


_WORD_ENDS = re.compile(r"(?!\w)\s*(?:[.!\])]*\s*$|overall\b|here\b|and\b|as\b)")
_NUMBER_ENDS = re.compile(
    r"(?![\w.]*\d)(?:\s*(?:/|out of)\s*\d+(?:\.\d+)?)?(?![-–\d])\s*"
    r"(?:[.!\])]*\s*$|points?\b|stars?\b|overall\b|here\b|as\b|on (?:the|a|this)\b[\w\s-]{0,30}\bscale\b)"
)


def _grade_patterns(label: str) -> list[re.Pattern[str]]:
    noun = r"(?:score|rating|grade|mark)"
    owner = r"(?:the|a|an|my|its|this|final|overall|total|fair|deserved|is|gives?|deserves|assign|award)"
    thing = rf"(?:it|this|that|(?:the|this)\s+(?:\w+\s+)?{_NOUN})"
    number = rf"((?:{label})(?:\.0+)?)"
    verdict = r"\b(?:verdict|final answer|final decision|decision|conclusion|judge?ment|classification|label)"
    rated = r"\b(?:i|we)\b(?:\s+\w+){0,2}\s+(?:give|rate|score|assign|grade|award|mark)"
    patterns = (
        rf"(?:^\s*|\b{owner}\s+){noun}\s*(?:of|is|:|=)[\s:]*{number}",
        rf"{rated}\s+{thing}\s+(?:as\s+|at\s+|with\s+)?(?:an?\s+)?(?:{noun}\s+of\s+)?{number}",
        rf"\b(?:deserves|merits|earns|warrants|receives)\s+(?:an?\s+)?(?:(?:overall|final)\s+)?(?:{noun}\s+of\s+)?{number}",
        rf"{verdict}\s*(?:is|:|=)[\s:]*{number}",
    )
    return [re.compile(pattern) for pattern in patterns]


# Whether a judge's reasoning and its verdict say the same.


@dataclass(frozen=True, slots=True)
class Reasoned:
    """The reasoning of one answer, held against its verdict."""

    text: str
    """The reasoning itself."""
    finding: ReasoningFinding
    stated: Choice | Grade | None
    """What it says outright; None if nothing."""


class ReasoningCheck:
    """Holds the reasoning of answers against the verdicts read from them. Pure, as reading is."""

    version = 1
    """Incremented with every change that could find another statement."""

    def __init__(self, reader: AnswerReader) -> None:
        self._reader = reader
        self._statements: dict[AnswerReader, Statements] = {}

    def check(self, response: Response, presentation: Presentation, outcome: Outcome | None) -> Reasoned | None:
        """Returns what the reasoning of a verdict says; None without a verdict, or without a reasoning."""
        if not isinstance(outcome, Verdict):
            return None
        reader = self._reader.under(presentation)
        text = reader.reasoning(response.text or "")
        if not text:
            return None
        if reader not in self._statements:
            # Where labels are swapped, `the first answer` may be the first one or the one that is called so.
            ordinals = presentation.layout is None
            self._statements[reader] = Statements(reader.scale, reader.words, ordinals=ordinals)
        stated = self._statements[reader].last(text)
        if stated is None:
            return Reasoned(text, "states-none", None)
        return Reasoned(text, "agrees" if stated == outcome.value else "contradicts", stated)
