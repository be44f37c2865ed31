"""What counting needs to know about a trial on controlled stimuli."""

import math
from typing import Any

from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import GivenWinner, Stimulus
from umpirical.domain.trials import Order, Trial
from umpirical.runs.judgments import Facts


def _facts(trial: Trial, stimulus: Stimulus, scale: GradeScale | None) -> dict[str, Any]:
    u, v = stimulus.candidates[0], stimulus.candidates[-1]
    graded = 0 if trial.presentation.order is Order.UV else -1
    return {
        "winner": stimulus.expectation.candidate if isinstance(stimulus.expectation, GivenWinner) else None,
        "base": stimulus.base,
        "quad": stimulus.quad,
        "version": stimulus.version,
        "log_length": round(math.log(max(1, len(u)) / max(1, len(v))), 2),
        "level": None if scale is None else stimulus.levels[graded],
    }


FACTS = Facts(
    {
        "winner": "int32",
        "base": "double",
        "quad": "string",
        "version": "string",
        "log_length": "double",
        "level": "double",
    },
    _facts,
)
