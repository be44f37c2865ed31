"""Deletion: the sentences that hold some of the claims are taken out, and nothing else."""

from collections.abc import Collection, Sequence

from umpirical.text.blocks import Block, TextSpan, markdown_blocks
from umpirical.text.sentences import balanced, locate, spans_past_abbreviations


def deletable(text: str, claims: Sequence[str]) -> list[tuple[int, ...]]:
    """The claims that go together, as places in `claims`: those of one sentence, or of sentences that a claim joins.

    A claim in a heading, a table or a quotation is not among them, nor one whose sentence shares brackets or emphasis
    with the next.
    """
    groups: list[tuple[set[int], set[TextSpan]]] = []
    for place, claim in enumerate(claims):
        held = set(_holding(text, claim))
        if not held:
            continue
        own = ({place}, held)
        for group in [group for group in groups if group[1] & held]:
            groups.remove(group)
            own = (own[0] | group[0], own[1] | group[1])
        groups.append(own)
    whole = [(held, spans) for held, spans in groups if all(balanced(text[s.start : s.end]) for s in spans)]
    return sorted(tuple(sorted(held)) for held, _ in whole)


def without(text: str, claims: Sequence[str]) -> str:
    """The answer without the sentences that hold these claims. Later items of a numbered list move up."""
    gone = {span for claim in claims for span in _holding(text, claim)}
    found = markdown_blocks(text)
    out, removed = "", dict[int, int]()
    for place, block in enumerate(found):
        kept = _kept(text, block, gone)
        removed = _renumbering(block, removed, gone=kept is None)
        if kept is None:
            continue
        mark = text[block.span.start : block.body]
        if block.number is not None and removed.get(block.indent):
            mark = mark.replace(str(block.number), str(block.number - removed[block.indent]), 1)
        # The gap before a block goes with the block, so that nothing is left where one was taken out.
        gap = text[found[place - 1].span.end : block.span.start] if out else ""
        out += f"{gap}{mark}{kept}"
    return out


def _holding(text: str, claim: str) -> list[TextSpan]:
    """The sentences that a claim lies in; none if it lies where nothing can be taken out."""
    [where] = locate(text, claim)
    for block in markdown_blocks(text):
        if where.overlaps(block.span):
            spans = spans_past_abbreviations(text, block) if block.kind in ("prose", "item") else []
            return [span for span in spans if span.overlaps(where)]
    return []


def _kept(text: str, block: Block, gone: Collection[TextSpan]) -> str | None:
    """What is left of a block's text; None if nothing is left."""
    spans = spans_past_abbreviations(text, block) if block.kind in ("prose", "item") else []
    if not any(span in gone for span in spans):
        return text[block.body : block.span.end]
    kept, end = "", block.body
    for span in spans:
        if span not in gone:
            kept += (text[end : span.start] if kept else "") + text[span.start : span.end]
        end = span.end
    return kept or None


def _renumbering(block: Block, removed: dict[int, int], *, gone: bool) -> dict[int, int]:
    """By how much the items of a numbered list move up, by their indentation."""
    if block.kind in ("prose", "other") and not block.indent:
        return {}
    if block.number is None:
        return removed
    outer = {indent: count for indent, count in removed.items() if indent <= block.indent}
    if block.number == 1:
        outer[block.indent] = 0
    return {**outer, block.indent: outer.get(block.indent, 0) + gone}
