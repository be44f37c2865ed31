"""What to do about a judge that gives no answer, from what its server said and how the judge is set up.

The server's own words are kept in the message: a diagnosis is a guess about them, and the person decides.
"""

import re
from urllib.parse import urlsplit

from umpirical.domain.judgments import Failed
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import ModelSpec
from umpirical.text.addresses import plain_address

_STATUS = re.compile(r"\bHTTP (\d{3})\b")

_VERSION = re.compile(r"/v\d+(?:/|$)")

_FORMAT_WORDS = ("response_format", "json_schema", "structured output", "guided", "grammar")
"""Words by which servers name what they are asked for with a constrained answer."""


def address_of(judge: JudgeSpec) -> str:
    """Returns whom a judge asks: the address without a name or a password in it, the model, the program or the code."""
    url = judge.http.url if judge.http else judge.model.base_url if judge.model else None
    return judge.made_of[1] if url is None else plain_address(url)


def remedy(judge: JudgeSpec, failure: Failed) -> str:
    """Returns the one thing to do about a failure that recurs."""
    model = judge.model
    if judge.http and failure.kind == "connection":
        return f"start the endpoint, or correct url: nothing could be reached at {address_of(judge)}"
    if model is None:
        return "call the judge once by hand with a task and candidates, mend it, then run the same command again"
    found = _STATUS.search(failure.detail)
    status = int(found[1]) if found else None
    again = "then run the same command again; nothing that was answered is asked again"
    return f"{_what_to_do(judge, model, failure, status)}, {again}"


def _what_to_do(judge: JudgeSpec, model: ModelSpec, failure: Failed, status: int | None) -> str:
    address = address_of(judge)
    if judge.loads_model and failure.kind != "timeout":
        return "see what the engine says above: the folder or the name of the model, its model_args, or the memory"
    match failure.kind, status:
        case "connection", _:
            found = f"start the server, or correct base_url: nothing could be reached at {address}"
        case "timeout", _:
            found = f"make the server faster, or raise timeout of the model above {model.timeout:g} s"
        case "rate-limited", _:
            found = "wait, or lower concurrency of the study"
        case _, 401 | 403:
            found = _key_remedy(model, address)
        case _, 404 | 405:
            found = _path_remedy(model, address)
        case _, 400 | 422 | 501 if any(words in failure.detail.lower() for words in _FORMAT_WORDS):
            found = "the server cannot hold an answer to a schema: give the judge  answer: {constrained: false}"
        case _:
            found = "make sure that the judge answers and that its key is right"
    return found


def _key_remedy(model: ModelSpec, address: str) -> str:
    if model.api_key_env is None and model.base_url is not None:
        return f"{address} wants a key: put it into an environment variable, and name the variable in api_key_env"
    variable = model.api_key_env or "the variable of its provider"
    return f"put a key that {address} accepts into {variable}"


def _path_remedy(model: ModelSpec, address: str) -> str:
    if model.base_url is not None and not _VERSION.search(urlsplit(model.base_url).path):
        return f"most servers want /v1 at the end: base_url: {address.rstrip('/')}/v1"
    return f"make sure that {address} is right, and that the model is called {model.name} there"
