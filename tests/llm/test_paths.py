"""Three ways to the same server: over HTTP, through Inspect, and by a function of the user's. One answer."""

from pathlib import Path

import pytest

from tests.llm.bench_study import pairs
from tests.models.inspect_opening import OLD_NAME
from umpirical.domain.judgments import Verdict
from umpirical.domain.trials import Presentation
from umpirical.judges.factory import build_judge
from umpirical.judges.prompt import resolve_prompts
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import Calling

pytestmark = [pytest.mark.llm, OLD_NAME]

HERE = Path(__file__).parent


@pytest.fixture
def three_judges(monkeypatch):
    """The same judge, three times, for an answer of so many tokens, held to the schema or not."""

    def build(server, *, max_tokens: int, constrained: bool):
        built = []
        monkeypatch.setenv("BENCH_URL", server.base_url)
        monkeypatch.setenv("BENCH_MAX_TOKENS", str(max_tokens))
        monkeypatch.setenv("BENCH_CONSTRAINED", str(constrained).lower())
        monkeypatch.setenv("BENCH_KEY", "any")
        monkeypatch.syspath_prepend(HERE)
        common = {"base_url": server.base_url, "api_key_env": "BENCH_KEY", "timeout": 300}
        asked = {"decoding": {"max_tokens": max_tokens}, "answer": {"constrained": constrained}}
        specs = [
            {"name": "http", "model": {"adapter": "openai-compatible", "name": server.name, **common}, **asked},
            {"name": "inspect", "model": {"adapter": "inspect", "name": f"openai-api/bench/{server.name}", **common}}
            | asked,
            {"name": "function", "callable": "calling_judge:judge"},
        ]
        for spec in specs:
            resolved = resolve_prompts(JudgeSpec.model_validate(spec), HERE)
            built.append(build_judge(resolved, folder=HERE, calling=Calling(seed=1)))
        return built

    return build


async def ask_all(judges, trials):
    """The answers to each trial, one way after the other, one call at a time."""
    answers = []
    try:
        for place, shown in enumerate(trials):
            asked = [(judge, judge.request(shown, Presentation())) for judge in judges]
            answers.append([(judge, await judge.ask(request, trial_id=f"t{place}")) for judge, request in asked])
    finally:
        for judge in judges:
            await judge.close()
    return answers


@pytest.mark.parametrize("trials", [6, *(pytest.param(trials, marks=pytest.mark.slow) for trials in (20, 50))])
async def test_the_verdict_is_the_same(three_judges, server, trials):
    judges = three_judges(server, max_tokens=32, constrained=True)
    for answers in await ask_all(judges, pairs(trials)):
        outcomes = [judge.read(response, Presentation()) for judge, response in answers]
        assert isinstance(outcomes[0], Verdict)
        assert outcomes[0] == outcomes[1] == outcomes[2]


@pytest.mark.slow
async def test_a_free_text_is_the_same_on_a_server_that_reads_every_prompt_anew(three_judges, exact_server):
    """A verdict is one of few, and this model's hardly ever varies: that its free text is the same says more.

    Where the server goes on from a prompt that it has read before, these two pairs get one text the first time and
    another one after that, whoever asks.
    """
    judges = three_judges(exact_server, max_tokens=24, constrained=False)
    answers = await ask_all(judges, pairs(5)[3:])
    for three in answers:
        texts = [response.text for _, response in three]
        assert texts[0]
        assert texts[0] == texts[1] == texts[2]
        outcomes = [judge.read(response, Presentation()) for judge, response in three]
        assert outcomes[0] == outcomes[1] == outcomes[2]
