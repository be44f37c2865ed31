"""What generating costs is shown first, agreed to, and never exceeded."""

import json
import re
from collections import Counter

import pytest

from tests.protocols.stress.end_to_end.loopback import answer
from tests.protocols.stress.end_to_end.studies import persuade_study
from tests.servers.chat_server import ChatServer

PRICES = ("--price", "writer=1,2", "--price", "validator=1,2")


@pytest.fixture
def priced(persuade, tmp_path):
    """A study whose models cost something."""

    def write(url):
        folder = persuade_study(tmp_path, persuade, url, size=12, tests=("paraphrase",), judges=["word-counter"])
        file = folder / "umpirical.yaml"
        file.write_text(re.sub(r", price: free", "", file.read_text(), count=2))
        return folder

    return write


def test_nothing_is_sent_before_somebody_agreed(priced, umpirical):
    with ChatServer(answer) as server:
        folder = priced(server.base_url)
        code, _, err = umpirical("generate", folder, "--outside", *PRICES)
        assert code == 6
        assert re.search(r"12 test cases, with writer, validator\n +36 to 288 calls, at most \$\d", err)
        assert "--yes --max-cost" in err
        code, _, err = umpirical("generate", folder, "--outside", "--yes", "--max-cost", "9")
        assert code == 6
        assert "--price writer=IN,OUT" in err
    assert not server.asked


def test_a_cap_is_never_exceeded_and_more_money_goes_on_where_it_stopped(priced, umpirical):
    with ChatServer(answer, keep_bodies=100_000) as server:
        folder = priced(server.base_url)
        said = []
        for cap in ("0.02", "0.05", "9"):
            code, _, err = umpirical("generate", folder, "--outside", *PRICES, "--yes", "--max-cost", cap)
            spent = re.search(r"spent: \$([\d.]+)", err)
            assert float(spent[1] if spent else 0) <= float(cap)
            said.append(code)
    assert said[0] == 6
    assert said[-1] == 0
    assert max(server.answered.values()) == 1
    roles = Counter(body["model"] for body in server.bodies)
    assert roles["validator"] > roles["writer"] >= 12


def test_what_a_generator_did_is_told_as_json(priced, umpirical):
    with ChatServer(answer) as server:
        code, out, _ = umpirical(
            "generate", priced(server.base_url), "--outside", *PRICES, "--yes", "--max-cost", "9", "--json"
        )
    assert code == 0
    made = json.loads(out)["paraphrase"]
    assert made["generated"] + made["given_up"] == made["wanted"] == 12
    assert made["validators"].startswith("validator: 2 of at most 3")


def test_a_server_that_fails_leaves_the_rest_for_another_time(priced, umpirical):
    def misbehave(name, times):
        return "reset" if int(name[:2], 16) % 8 == 0 and times < 6 else None

    with ChatServer(answer, misbehave=misbehave) as server:
        folder = priced(server.base_url)
        codes = []
        # How much is done before so many failures end a command is a matter of which calls are under way together.
        while 0 not in codes and len(codes) < 30:
            codes.append(umpirical("generate", folder, "--outside", *PRICES, "--yes", "--max-cost", "9")[0])
    assert set(codes[:-1]) == {5}
    assert codes[-1] == 0
    assert max(server.answered.values()) == 1
