"""Log-probabilities of a simulated answer, in the form that servers send."""

import json
from collections.abc import Mapping
from math import log

__all__ = ["label_logprobs"]


def label_logprobs(text: str, probabilities: Mapping[str, float], *, top: int) -> str:
    """As JSON: the label is one token, beside which the `top` likeliest labels are listed; the rest is certain."""
    verdict = json.loads(text)["verdict"]
    before, after = text.split(f'"{verdict}"')
    # An answer that cannot be given is listed nowhere.
    known = {label: log(share) for label, share in probabilities.items() if share > 0}
    listed = sorted(known.items(), key=lambda entry: -entry[1])[:top]
    content = [
        _token(f'{before}"', 0.0, [(f'{before}"', 0.0)]),
        _token(verdict, known[verdict], listed),
        _token(f'"{after}', 0.0, [(f'"{after}', 0.0)]),
    ]
    return json.dumps({"content": content})


def _token(text: str, logprob: float, listed: list[tuple[str, float]]) -> dict[str, object]:
    return {
        "token": text,
        "logprob": logprob,
        "top_logprobs": [{"token": other, "logprob": value} for other, value in listed],
    }
