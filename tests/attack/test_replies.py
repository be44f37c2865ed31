"""Odd replies, over a real connection, to every way of reading an answer: a cut or failed one is never a verdict."""

import asyncio
from dataclasses import dataclass
from itertools import product

import pytest

from tests.attack.odd_replies import odd_replies
from tests.attack.raw_server import RawServer
from umpirical.domain.judgments import Abstained, Failed, Unparsed, Verdict
from umpirical.domain.responses import Response
from umpirical.domain.scales import GradeScale
from umpirical.domain.trials import LABEL_SETS, Layout, Presentation
from umpirical.judges.answers import AnswerReader, read_response
from umpirical.judges.shapes import AnswerSpec, shape_of
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.models.spec import Calling, ModelSpec, open_model


@dataclass(frozen=True)
class Way:
    """A way of reading, and whether it reads JSON: an answer found by a pattern never shows that it is whole."""

    reader: AnswerReader
    layout: Layout | None = None
    json: bool = True


def shaped(scale=None, **answer):
    return AnswerReader(scale, shape=shape_of(AnswerSpec(**answer)))


WAYS = {
    "compare": Way(AnswerReader(None)),
    "compare, own words": Way(AnswerReader(None, labels={"A": "1", "B": "2", "yes": "tie", "same": "abstain"})),
    "compare, confidence": Way(AnswerReader(None, confidence=True)),
    "compare, pattern": Way(shaped(pattern=r"Final: (?P<answer>\w+)"), json=False),
    "compare, loose pattern": Way(shaped(pattern=r"(?P<answer>1|2|tie)"), json=False),
    "compare, field": Way(shaped(field="verdict")),
    "compare, tag": Way(shaped(tag="verdict"), json=False),
    "compare, brackets": Way(shaped(brackets=True), json=False),
    "compare, last line": Way(shaped(last_line=True), json=False),
    **{
        f"compare, {labels}": Way(AnswerReader(None), Layout(labels, swapped))
        for labels, swapped in product(LABEL_SETS, (False, True))
    },
    "binary": Way(AnswerReader(GradeScale("binary", ("true", "false")))),
    "nominal": Way(AnswerReader(GradeScale("nominal", ("yes", "no", "not sure")))),
    "ordinal": Way(AnswerReader(GradeScale("ordinal", ("1", "2", "10")))),
    "ordinal, words": Way(AnswerReader(GradeScale("ordinal", ("bad", "good", "goodish")))),
    "ordinal, own words": Way(AnswerReader(GradeScale("ordinal", ("bad", "good")), labels={"1": "bad", "2": "good"})),
    "interval": Way(AnswerReader(GradeScale("interval", low=0, high=100))),
    "interval, pattern": Way(
        shaped(GradeScale("interval", low=0, high=100), pattern=r"Score: (?P<answer>[\d.]+)"), json=False
    ),
}


def asked(number):
    return ChatRequest("judge", (Message("user", str(number)),), Decoding(max_tokens=64))


async def answered(replies, adapter, name):
    """What is recorded of each reply."""

    async def answer(question, writer):
        writer.write(replies[int(question.text)].raw)

    with RawServer(answer) as server:
        spec = ModelSpec(adapter=adapter, name=name, base_url=server.base_url, attempts=1, timeout=60)
        model = open_model(spec, Calling(concurrency=8))
        try:
            questions = [model.generate(asked(number), trial_id=str(number)) for number in range(len(replies))]
            return await asyncio.gather(*questions)
        finally:
            await model.close()


def wrongly_read(replies, responses):
    """Every reading of a cut or failed answer as an answer, and every whole one that a reader of its words missed."""
    wrong = []
    for reply, response in zip(replies, responses, strict=True):
        for name, way in WAYS.items():
            outcome = read_response(way.reader, response, Presentation(layout=way.layout))
            assert isinstance(outcome, Verdict | Abstained | Unparsed | Failed)
            counts = reply.whole or (reply.closed and way.json)
            if isinstance(outcome, Verdict | Abstained) and not counts:
                wrong.append((reply.name, name, outcome, response.finish_reason[:20]))
    return wrong


def missed(replies, responses):
    """Whole answers that an allow-list too narrow would have lost: read without their reason, they are an answer."""
    lost = []
    for reply, response in zip(replies, responses, strict=True):
        for name, way in WAYS.items():
            place = Presentation(layout=way.layout)
            if reply.whole and response.text is not None:
                plain = read_response(way.reader, Response("t", response.text, finish_reason="stop"), place)
                if read_response(way.reader, response, place) != plain:
                    lost.append((reply.name, name, plain))
    return lost


async def no_verdict_but_from_a_whole_answer(replies):
    responses = await answered(replies, "openai-compatible", "judge")
    wrong, lost = wrongly_read(replies, responses), missed(replies, responses)
    assert (wrong[:20], len(wrong)) == ([], 0)
    assert (lost[:20], len(lost)) == ([], 0)
    read = [read_response(WAYS["compare"].reader, response, Presentation()) for response in responses]
    assert sum(isinstance(outcome, Verdict) for outcome in read) > len(replies) // 100


async def test_a_cut_or_failed_answer_is_no_verdict():
    replies = odd_replies()
    around = [reply for reply in replies if not reply.said]
    await no_verdict_but_from_a_whole_answer(replies[::9] + around)


@pytest.mark.attack
async def test_no_odd_reply_of_all_is_read_as_a_verdict():
    replies = odd_replies()
    assert len(replies) >= 600
    await no_verdict_but_from_a_whole_answer(replies)
