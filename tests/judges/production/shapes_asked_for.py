"""What a server answers to each judge: in the shape that its prompt asks for, with true value defects.

Every draw depends on the text that was sent alone, so a run of the same study always has the same answers.
"""

import hashlib
import json
import re
from dataclasses import dataclass, field

POSITION_1, POSITION_2 = 0.5, 0.3
"""How often position 1 and position 2 are named, whatever is in them; the rest are ties."""

MALFORMED = 0.1
CONTRADICTED = 0.2
"""The share of reasonings that state another verdict than is given."""
WRONG = 0.25
"""The share of grades that are not the label."""
DECLINED = 0.15
SHIFT = 0.1
"""How far the grades on a scale of numbers lie above the labels."""

GARBLED = ("", "I would rather not say.", "It depends.", "A, or B, or [", '{"note": "no decision"}', "unsure.")


def draw(text, what):
    """A number from 0 to 1 that a text decides."""
    return int.from_bytes(hashlib.sha256(f"{what}\n{text}".encode()).digest()[:8]) / 2**64


def sent(body):
    return "\n\n".join(message["content"] for message in body["messages"])


def is_garbled(text):
    return draw(text, "malformed") < MALFORMED


def garbled(text):
    return GARBLED[int(draw(text, "which") * len(GARBLED))]


# Judges that compare: how each of them writes a verdict, with and without a reasoning.

OTHER = {"1": "2", "2": "1", "tie": "1"}

LETTERS = {"1": "A", "2": "B", "tie": "C"}


def said_of(verdict, names, noun):
    """A sentence that states a verdict."""
    if verdict == "tie":
        return "Both are equally good."
    return f"Overall, {noun} {names[verdict]} is better."


def bracketed_pair(verdict, stated, _):
    return f"Each of them is on topic. {said_of(stated, LETTERS, 'Assistant')}\n\n[[{LETTERS[verdict]}]]"


def five_way_pair(verdict, stated, text):
    strong = draw(text, "strong") < 0.5
    own = {"1": "A>>B" if strong else "A>B", "2": "B>>A" if strong else "B>A", "tie": "A=B"}
    said = said_of(stated, LETTERS, "Assistant")
    return f"My own answer would be short. {said}\nMy final verdict is: [[{own[verdict]}]]"


def ranking_pair(verdict, *_):
    return {"1": "m", "2": "M"}[verdict]


def xml_pair(verdict, stated, _):
    own = {**LETTERS, "tie": "TIE"}
    return f"<analysis>{said_of(stated, LETTERS, 'Response')}</analysis>\n<verdict> {own[verdict]} </verdict>"


def json_pair(verdict, stated, _):
    return json.dumps({"explanation": said_of(stated, LETTERS, "Answer"), "winner": LETTERS[verdict]})


def nested_json_pair(verdict, stated, _):
    own = {"1": "first", "2": "second", "tie": "neither"}
    thoughts = "Both are equally good." if stated == "tie" else f"The {own[stated]} answer is better."
    return json.dumps({"thoughts": thoughts, "result": {"winner": own[verdict], "margin": 1}})


def few_shot_pair(verdict, stated, _):
    own = {"1": "1", "2": "2", "tie": "equal"}
    return f"{said_of(stated, own, 'Draft')}\n\n**{own[verdict]}**".replace("Draft", "Text")


def schema_pair(verdict, stated, text):
    first, second = re.findall(r"^Candidate (\w+):$", text, re.MULTILINE)[:2]
    names = {"1": first, "2": second, "tie": "tie"}
    return json.dumps({"reasoning": said_of(stated, names, "Candidate"), "verdict": names[verdict]})


COMPARING = [
    bracketed_pair,
    five_way_pair,
    ranking_pair,
    xml_pair,
    json_pair,
    nested_json_pair,
    few_shot_pair,
    schema_pair,
]

SILENT = {"ranking_pair"}
"""Judges that give no reasoning, and know no tie."""


def comparing(write):
    """The server of a judge that compares."""

    def answer(body):
        text = sent(body)
        if is_garbled(text):
            return garbled(text)
        ties = write.__name__ not in SILENT
        place = draw(text, "slot") * (1.0 if ties else POSITION_1 + POSITION_2)
        verdict = "1" if place < POSITION_1 else "2" if place < POSITION_1 + POSITION_2 else "tie"
        contradicts = draw(text, "contradicts") < CONTRADICTED
        return write(verdict, OTHER[verdict] if contradicts else verdict, text)

    return answer


# Judges that grade: their scale, how each of them writes a grade, and what it has to be shown of a row.

FIVE = {"kind": "ordinal", "labels": ["1", "2", "3", "4", "5"]}
TEN = {"kind": "ordinal", "labels": [str(number) for number in range(1, 11)]}
BINARY = {"kind": "binary", "labels": ["no", "yes"]}
UNIT = {"kind": "interval", "low": 0, "high": 1}


@dataclass(frozen=True)
class Grader:
    scale: dict
    write: object
    """Takes the grade that is given, and the one that the reasoning states."""
    columns: tuple[str, ...] = ()
    reasons: bool = True
    declines: bool = field(default=False)


def yes(grade, word, other):
    return word if grade == "yes" else other


GRADING = {
    "rating_of_ten": Grader(TEN, lambda g, s: f"It is on topic. I give it a score of {s}.\nRating: [[{g}]]"),
    "steps_and_score": Grader(FIVE, lambda g, s: f"The summary deserves a {s}.\n- Coherence: {g}"),
    "yes_or_no": Grader(
        BINARY,
        lambda g, s: json.dumps(
            {"explanation": f"My conclusion is: {yes(s, 'Yes', 'No')}.", "verdict": yes(g, "Yes", "No")}
        ),
    ),
    "nested_score": Grader(
        FIVE, lambda g, s: json.dumps({"result": {"score": float(g), "max": 5}, "critique": f"It deserves a {s}."})
    ),
    "absolute_grading": Grader(
        FIVE,
        lambda g, s: f"Feedback: By the rubric, it deserves a {s}. [RESULT] {g}",
        columns=("reference", "rubric"),
    ),
    "policy_with_categories": Grader(
        {"kind": "binary", "labels": ["unsafe", "safe"]},
        lambda g, _: g if g == "safe" else "unsafe\nS1,S3",
        reasons=False,
    ),
    "faithfulness": Grader(
        BINARY,
        lambda g, _: json.dumps({"statements": [{"claim": "c", "supported": True}], "faithful": g == "yes"}),
        columns=("context",),
        reasons=False,
    ),
    "rubric_per_row": Grader(FIVE, lambda g, s: f"The answer earns a {s}.\n<score>{g}</score>", columns=("rubric",)),
    "reference_guided_math": Grader(
        BINARY,
        lambda g, s: f"My conclusion is: {yes(s, 'CORRECT', 'INCORRECT')}.\n{yes(g, 'CORRECT', 'INCORRECT')}",
        columns=("reference",),
    ),
    "boolean_json": Grader(
        BINARY,
        lambda g, s: json.dumps({"passed": g == "yes", "reason": f"Verdict: {yes(s, 'true', 'false')}."}),
    ),
    "pass_or_fail": Grader(
        BINARY, lambda g, s: f"I grade this answer as {yes(s, 'PASS', 'FAIL')}.\n\n**{yes(g, 'PASS', 'FAIL')}**\n"
    ),
    "share": Grader(UNIT, lambda g, _: json.dumps({"score": g, "reason": "It covers that much."}), reasons=False),
    "many_criteria": Grader(
        FIVE,
        lambda g, s: json.dumps(
            {"comment": f"Its overall score is {s}.", "accuracy": 1, "clarity": 5, "tone": 3, "overall": int(g)}
        ),
    ),
    "critique_then_score": Grader(
        FIVE, lambda g, s: f'It says {{too}} little. I rate this answer a {s}.\n```json\n{{"score": {g}}}\n```'
    ),
    "may_decline": Grader(FIVE, lambda g, s: f"The answer deserves a {s}.\n<score>{g}</score>", declines=True),
    "system_and_text": Grader(FIVE, lambda g, s: f"Draft: [[1]]. On reflection it deserves a {s}. [[{g}]]"),
}

ROWS = 160


def labels_of(scale):
    return scale.get("labels") or ["0.2", "0.4", "0.6", "0.8"]


def gold(number, scale):
    labels = labels_of(scale)
    return labels[number % len(labels)]


def grading(grader):
    """The server of a judge that grades. It finds the row in what it is sent, and knows its label."""

    def answer(body):
        text = sent(body)
        number = int(re.findall(r"item-(\d+)", text)[-1])
        if any(f"{column} for item-{number}" not in text for column in grader.columns):
            raise AssertionError(f"a column is not in the prompt: {text}")
        if is_garbled(text):
            return garbled(text)
        if grader.declines and draw(text, "declines") < DECLINED:
            return "<score>n/a</score>"
        right, labels = gold(number, grader.scale), labels_of(grader.scale)
        if grader.scale["kind"] == "interval":
            return grader.write(round(float(right) + SHIFT, 2), "")
        given = shifted(right, labels) if draw(text, "wrong") < WRONG else right
        contradicts = draw(text, "contradicts") < CONTRADICTED
        return grader.write(given, shifted(given, labels) if contradicts else given)

    return answer


def shifted(label, labels):
    return labels[(labels.index(label) + 1) % len(labels)]
