"""What gives a text away as made to order: chat around it, or the name of the grade that was asked for."""

import re

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
    # "Grade B" is a grade, whereas "grade no" is half a sentence.
    letter = (rf"\b{_GRADE_NOUNS}\s+{label}(?!\w){ends}",) if re.fullmatch(r"\w(?:\\?[+-])?", label) else ()
    return quoted, after_colon, said, *letter
