"""One judge behind every kind of network and gateway: the datasheet is the same."""

import json
from contextlib import ExitStack
from decimal import Decimal

import pytest

from tests.runs.loopback import responses, swayed_answer
from tests.servers.chat_server import ChatServer
from tests.servers.networks import Authority, azure, litellm, openrouter, proxied
from tests.stimuli.built import lend_stimuli
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.stimuli.controlled.datasheet_set import RECIPES

KEY = "a-key-of-4711-4712-4713"
HOST = "judge.example"
"""A host that only the proxy can find."""

PRICE = {"input": 1000, "output": 2000, "cached": 100}


@pytest.fixture
def networks(tmp_path, monkeypatch):
    """Settings of a model behind each kind of network, and the servers. The first wants a client certificate, too."""
    ours, theirs = Authority(tmp_path, "ours"), Authority(tmp_path, "theirs")
    certificate, key = theirs.issue("client")
    tls = {"ca": ours.ca, "certificate": certificate, "key": key}
    # What each gateway was asked, its failures included.
    routed, relayed = [], []
    servers = {
        "tunnel": ChatServer(swayed_answer, tls=ours.serves(HOST, clients=theirs)),
        "azure": ChatServer(swayed_answer, path="/openai/deployments/judge", layers=(azure(KEY),)),
        "openrouter": ChatServer(swayed_answer, path="/api/v1", layers=(openrouter(KEY, routed),)),
        "litellm": ChatServer(swayed_answer, path="", layers=(litellm(KEY, relayed),)),
    }
    monkeypatch.setenv("GATEWAY_KEY", KEY)
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with ExitStack() as stack:
        address = {name: stack.enter_context(server).base_url for name, server in servers.items()}
        proxy = stack.enter_context(proxied(servers["tunnel"]._port))
        monkeypatch.setenv("HTTPS_PROXY", f"http://user:a-word-for-the-proxy@{proxy.address}")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
        keyed = {"api_key_env": "GATEWAY_KEY"}
        models = {
            "tunnel": {"base_url": f"https://{HOST}/v1", "tls": tls},
            "azure": {
                **keyed,
                "base_url": f"{address['azure']}?api-version=2024-10-21",
                "headers": {"api-key": "{{key}}"},
            },
            "openrouter": {**keyed, "headers": {"X-Title": "judges", "HTTP-Referer": "https://judges.example"}},
            "litellm": keyed,
        }
        common = {"adapter": "openai-compatible", "name": "judge", "price": PRICE}
        yield {name: {**common, "base_url": address[name], **more} for name, more in models.items()}, servers, proxy


@pytest.mark.heavy
def test_a_datasheet_is_the_same_through_every_network(umpirical, networks, tmp_path):
    models, servers, proxy = networks
    folder = tmp_path / "study"
    folder.mkdir()
    judges = [{"name": name, "model": model} for name, model in models.items()]
    (folder / "umpirical.yaml").write_text(
        json.dumps({"study": "networks", "design": {"size": "screen"}, "judges": judges})
    )
    lend_stimuli(folder)
    code, _, err = umpirical("run", folder, "--yes", "--max-cost", "2000", "--trust")
    assert code == 3, err
    found = {}
    for run in folder.glob("runs/*"):
        sheet = Datasheet.model_validate_json((run / "datasheet.json").read_text())
        found[sheet.judge.name] = run, sheet
    assert found.keys() == models.keys()
    for name, (run, sheet) in found.items():
        assert (sheet.complete, sheet.run.trials) == (True, RECIPES["screen"].calls)
        assert sheet.decision.verdict == "do-not-use"
        assert [m.result for m in sheet.measures] == [m.result for m in found["tunnel"][1].measures], name
        told = responses(run)
        assert [each.failure for each in told] == [None] * sheet.run.trials
        assert servers[name].answered.total() == sheet.run.trials
        # By hand: what was cached costs a tenth.
        for each in told:
            cached = 10 if name in ("openrouter", "litellm") else 0
            assert (each.usage.cached_tokens or 0) == cached
            cost = 1000 * (each.usage.input_tokens - cached) + 100 * cached + 2000 * each.usage.output_tokens
            assert each.cost == Decimal(cost) / 10**6 or each.attempts > 1
        again = sum(each.attempts - 1 for each in told)
        assert again >= sheet.run.trials // 10 if name in ("openrouter", "litellm") else again == 0
    assert {each.served_by.split()[0] for each in responses(found["openrouter"][0])} == {"Stand-in"}
    # Only the one that is behind it goes through the proxy, and it sees neither questions nor keys.
    assert {head.split("\r\n")[0] for head in proxy.heads} == {f"CONNECT {HOST}:443 HTTP/1.1"}
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert KEY.encode() not in content, path
            assert b"a-word-for-the-proxy" not in content, path
