"""Labelled pairs through a real server: what is sent, what comes back unreadable or not at all, and the record."""

import json
import re
from collections import Counter

from tests.protocols.pairs.pair_studies import labelled, measure, value, write_study
from tests.servers.chat_server import ChatServer
from umpirical import run

SHOWN = re.compile(r"\[candidate \w+, (?P<mark>\w+)\]\n(.*?)\n\[end of candidate \w+, (?P=mark)\]", re.DOTALL)

JUDGE = """\
  - name: served
    kind: compare
    model: {{adapter: openai-compatible, name: m, base_url: "{url}", price: free}}
    decoding: {{temperature: 0, max_tokens: 64}}
"""


def test_a_judge_behind_a_server(tmp_path):
    rows = list(labelled(12))
    good = {"".join(row["chosen"].split()): row for row in rows}

    def answer(body):
        prompt = body["messages"][-1]["content"]
        first, second = (text for _, text in SHOWN.findall(prompt))
        bare = ["".join(text.replace("*", "").split()) for text in (first, second)]
        row = good.get(bare[0]) or good[bare[1]]
        if row["id"] == 3:
            return "I cannot say."
        return json.dumps({"verdict": "1" if bare[0] in good else "2"})

    with ChatServer(answer) as server:
        folder = write_study(tmp_path, rows=rows, more="edits: [inline-spacing]\n")
        with (folder / "umpirical.yaml").open("a") as file:
            file.write(JUDGE.format(url=server.base_url))
        [report] = run(folder, trust=True, preflight=False)
        asked = sum(server.asked.values())
        sent = [body["messages"][-1]["content"] for body in server.bodies]
    assert asked == report.record.run.trials == 12 * 2 * 3
    found = measure(report.record, "both-orders-accuracy")
    assert (found.value, found.denominator, sum(found.excluded.values())) == (1, 11, 1)
    assert found.bounds == (11 / 12, 1)
    assert value(report.record, "change-rate") == 0
    assert [each.outcome for each in report.record.trouble] == ["unparsed"]
    # The chosen answer is first in one call of each pair and second in the other, and nothing says which it is.
    first = Counter("".join(SHOWN.search(prompt)[2].replace("*", "").split()) in good for prompt in sent)
    assert first[True] == first[False]
    assert not any(word in prompt for prompt in sent for word in ("chosen", "rejected", "easy", "hard"))
