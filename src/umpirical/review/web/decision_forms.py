"""The form of a decision: the choice it makes, or why it makes none."""

from dataclasses import replace
from typing import cast, get_args

from umpirical.domain.errors import UsageError
from umpirical.domain.reviews import DecisionKind, Reason
from umpirical.review.choices import ReviewChoice
from umpirical.review.records import Refused
from umpirical.review.views import ItemView
from umpirical.review.web.editor_text import from_editor
from umpirical.review.web.transcripts import InvalidEdit, edited, read_transcript
from umpirical.web.forms import Form

LONGEST_COMMENT = 2_000


def start_of(shown: ItemView) -> tuple[int, str]:
    """Number and text of the revision that the editor starts with: the person's own edit, if there is one."""
    if shown.own is not None and shown.own.kind == "edit":
        mine = next((each for each in shown.revisions if each.number == shown.own.revision), None)
        if mine is not None:
            return mine.number, mine.text
    return 0, shown.item.after


def choice_of(form: Form, shown: ItemView) -> ReviewChoice:
    """What the form says about the item it was shown with. Raises Refused, with a sentence for the person."""
    kind, _, reason = form.get("kind").partition(":")
    if kind not in get_args(DecisionKind):
        raise Refused("Choose what to do: accept, edit, reject or skip.")
    number, start = start_of(shown)
    choice = ReviewChoice(
        kind=cast("DecisionKind", kind),
        label=_label(form, shown) if kind in ("accept", "edit") else "",
        reason=_reason(reason) if kind == "reject" else None,
        comment=form.get("comment").strip()[:LONGEST_COMMENT],
        text=_typed(form, start) if kind == "edit" else None,
        milliseconds=_milliseconds(form.get("milliseconds")),
        revision=number,
    )
    if kind == "accept" and _is_changed(form, start):
        raise Refused("You have changed the text. Save it as your edit, or discard what you typed.")
    if kind == "edit" and number and choice.text == shown.item.after:
        # Someone who reverts their whole edit accepts the generator's text.
        return replace(choice, kind="accept", text=None, revision=0)
    return choice


def refusal_words(refused: UsageError) -> str:
    """Why it was refused and what to do about it, as sentences."""
    parts = [part[:1].upper() + part[1:] for part in (str(refused), refused.fix) if part]
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts)


def _label(form: Form, shown: ItemView) -> str:
    """Forms send a label by its position, as its text may be anything."""
    if not shown.item.labels:
        return ""
    labels = {str(place): label for place, label in enumerate(shown.item.labels)}
    if form.get("label") not in labels:
        raise Refused("Choose a label first.")
    return labels[form.get("label")]


def _reason(reason: str) -> Reason:
    if reason not in get_args(Reason):
        raise Refused("Choose a reason for the rejection.")
    return cast("Reason", reason)


def _typed(form: Form, start: str) -> str:
    try:
        text = _text(form, start)
    except InvalidEdit as error:
        raise Refused(f"{error} Nothing was saved; what you typed is still here.") from None
    if not _can_be_stored(text):
        raise Refused("The text has a character that cannot be stored (NUL, or half of a surrogate pair). Remove it.")
    return text


def _is_changed(form: Form, start: str) -> bool:
    try:
        return _text(form, start) != start
    except InvalidEdit:
        return True


def _text(form: Form, start: str) -> str:
    if read_transcript(start) is not None:
        return edited(start, form.fields)
    return from_editor(form.fields["text"]) if "text" in form.fields else start


def _can_be_stored(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= char <= "\udfff" for char in text)


def _milliseconds(given: str) -> int | None:
    """As the script measured it; without script the field is empty."""
    return int(given) if given.isascii() and given.isdigit() and len(given) < 12 else None
