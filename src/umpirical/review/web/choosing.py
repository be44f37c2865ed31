"""From a form to a choice, and why it is refused where it is none."""

from dataclasses import replace
from typing import cast, get_args

from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import DecisionKind, Reason
from umpirical.review.desk import Choice, Refused, Shown
from umpirical.review.web.editing import from_editor
from umpirical.review.web.forms import Form
from umpirical.review.web.transcripts import Broken, edited, read_transcript

__all__ = ["choice_of", "refusal_words", "start_of"]

LONGEST_COMMENT = 2_000


def start_of(shown: Shown) -> tuple[int, str]:
    """Number and text of what the editor starts with: the person's own edit where there is one."""
    if shown.own is not None and shown.own.kind == "edit":
        mine = next((each for each in shown.revisions if each.number == shown.own.revision), None)
        if mine is not None:
            return mine.number, mine.text
    return 0, shown.item.after


def choice_of(form: Form, shown: Shown) -> Choice:
    """What the form says of the item it was shown with. Raises Refused, with a sentence for the person."""
    kind, _, reason = form.get("kind").partition(":")
    if kind not in get_args(DecisionKind):
        raise Refused("Choose what to do: accept, edit, reject or skip.")
    number, start = start_of(shown)
    choice = Choice(
        kind=cast("DecisionKind", kind),
        label=_label(form, shown) if kind in ("accept", "edit") else "",
        reason=_reason(reason) if kind == "reject" else None,
        comment=form.get("comment").strip()[:LONGEST_COMMENT],
        text=_typed(form, start) if kind == "edit" else None,
        milliseconds=_milliseconds(form.get("milliseconds")),
        revision=number,
    )
    if kind == "accept" and _is_changed(form, start):
        raise Refused("You have changed the text. Save it as your edit, or drop what you typed.")
    if kind == "edit" and number and choice.text == shown.item.after:
        # Who takes back all that they had edited keeps the generator's text.
        return replace(choice, kind="accept", text=None, revision=0)
    return choice


def refusal_words(refused: UsageError) -> str:
    """Why, and what to do, as sentences."""
    parts = [part[:1].upper() + part[1:] for part in (str(refused), refused.fix) if part]
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts)


def _label(form: Form, shown: Shown) -> str:
    """Labels are sent by their place: what they say may be anything."""
    if not shown.item.labels:
        return ""
    labels = {str(place): label for place, label in enumerate(shown.item.labels)}
    if form.get("label") not in labels:
        raise Refused("Choose a label first.")
    return labels[form.get("label")]


def _reason(reason: str) -> Reason:
    if reason not in get_args(Reason):
        raise Refused("Say why the item is rejected.")
    return cast("Reason", reason)


def _typed(form: Form, start: str) -> str:
    try:
        text = _text(form, start)
    except Broken as error:
        raise Refused(f"{error} Nothing was saved; what you typed is still here.") from None
    if not _can_be_kept(text):
        raise Refused("The text holds a character that no file can keep (NUL, or half of a pair). Take it out.")
    return text


def _is_changed(form: Form, start: str) -> bool:
    try:
        return _text(form, start) != start
    except Broken:
        return True


def _text(form: Form, start: str) -> str:
    if read_transcript(start) is not None:
        return edited(start, form.fields)
    return from_editor(form.fields["text"]) if "text" in form.fields else start


def _can_be_kept(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def _milliseconds(given: str) -> int | None:
    """As the script measured it; without one the field is empty."""
    return int(given) if given.isascii() and given.isdigit() and len(given) < 12 else None
