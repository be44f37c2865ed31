"""Judges that compare, asked in both orders by a benchmark: MT-Bench, Arena-Hard, JudgeBench. JSON Lines."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from umpirical.datasets.readers import Row
from umpirical.datasets.verdicts.documents import table_rows, text_of
from umpirical.datasets.verdicts.past_verdict import Asking, Given, PastVerdict, VerdictFile
from umpirical.datasets.verdicts.words import choice_of, content_of, swapped
from umpirical.domain.errors import ConfigError
from umpirical.domain.judgments import Failed, Unparsed
from umpirical.domain.scales import Choice
from umpirical.domain.trials import Order

CONTENTS = {"model_1": Choice.SLOT_1, "model_2": Choice.SLOT_2, "tie": Choice.TIE}
"""How MT-Bench names a winner: by content, in both orders."""


def read_mt_bench(path: Path, _: Asking) -> VerdictFile:
    """Reads `MODEL_pair.jsonl`. A row has both orders; the winner of the second is already mapped back to a model."""
    return VerdictFile("mt-bench", "compare", tuple(_each(path, _mt_bench)))


def read_arena_hard(path: Path, _: Asking) -> VerdictFile:
    """Reads a file of games. The baseline is answer A in the first game, and answer B in the second."""
    notes = ("A>>B and A>B are one verdict here: how strong a preference is is not measured.",)
    return VerdictFile("arena-hard", "compare", tuple(_each(path, _arena_hard)), notes=notes)


def read_judgebench(path: Path, _: Asking) -> VerdictFile:
    """Reads a file of judged pairs. A decision names slots, and the second judgment saw the answers exchanged."""
    return VerdictFile("judgebench", "compare", tuple(_each(path, _judgebench)))


def _each(path: Path, read: Any) -> Iterator[PastVerdict]:  # noqa: ANN401  # one of the three below
    for row in table_rows(path, "jsonl"):
        yield from read(row)


def _mt_bench(row: Row) -> Iterator[PastVerdict]:
    found, judge = row.values, row.values.get("judge")
    if isinstance(judge, list):
        judge = " ".join(text_of(part) for part in judge)
    task = text_of(found.get("question_id"))
    item = " ".join(text_of(found.get(name)) for name in ("question_id", "turn", "model_1", "model_2"))
    for name, order in (("g1_winner", Order.UV), ("g2_winner", Order.VU)):
        yield PastVerdict(text_of(judge), item, _winner(found.get(name), order), task, order)


def _winner(value: object, order: Order) -> Given:
    content = CONTENTS.get(value) if isinstance(value, str) else None
    if content is not None:
        return content if order is Order.UV else swapped(content)
    if value == "error":
        return Failed("judge-error", "the file says error")
    return Unparsed(text_of(value)[:400], "it names neither model, nor a tie")


def _arena_hard(row: Row) -> Iterator[PastVerdict]:
    found = row.values
    task = text_of(found.get("question_id") or found.get("uid"))
    item = f"{task} {text_of(found.get('model'))}"
    for game, order in zip(_two(found.get("games"), row), (Order.UV, Order.VU), strict=True):
        yield PastVerdict(text_of(found.get("judge")), item, choice_of(game.get("score")), task, order)


def _judgebench(row: Row) -> Iterator[PastVerdict]:
    found = row.values
    item, gold = text_of(found.get("pair_id")), content_of(found.get("label"))
    judgments = found.get("judgments")
    both = judgments if isinstance(judgments, list) and len(judgments) == 1 else _two(judgments, row)
    for judgment, order in zip(both, (Order.UV, Order.VU), strict=False):
        given: Given = Failed("judge-error", "the judge raised an error")
        if isinstance(judgment, Mapping) and judgment:
            given = choice_of(judgment.get("decision"))
        task = text_of(found.get("original_id")) or item
        yield PastVerdict(text_of(found.get("judge_name")), item, given, task, order, gold=gold)


def _two(found: object, row: Row) -> list[Mapping[str, Any]]:
    """Returns what was said in the two orders; an object without anything stands for none."""
    if not isinstance(found, list) or len(found) != 2:
        raise ConfigError("expected one entry for each of the two orders", where=row.place, fix="--format says another")
    return [each if isinstance(each, Mapping) else {} for each in found]
