"""Whether the answer to one trial is the right one: in SQL, from the columns of its judgment.

The measures count pairs and repeats; this is the same reading, trial by trial. A tie or an abstention names no winner:
it is right where neither answer is better, and wrong where one is, as in the counts of `measures/counting/pairs.py`. A
grade is compared with the gold label, if there is one. What has no usable reply is missing: neither right nor wrong.
"""

from collections.abc import Collection
from typing import Literal, get_args

from umpirical.domain.scales import JudgeKind
from umpirical.domain.stimuli import Family

Result = Literal["wrong", "missing", "unscored", "right"]
"""`unscored`: no single answer is right, such as one grade of a pair, or a forced choice between equal answers."""

RESULTS: tuple[Result, ...] = get_args(Result)
"""What a reader looks for comes first."""

FORCED = "forced-choice"
"""The built-in prompt variant that does not allow a tie."""

TOLERANCE = 1e-9
"""Scores that are closer than this are the same."""

COUNTED = (
    *("family", "stratum", "delta", "variant", "order", "outcome", "choice", "label", "value"),
    *("score", "winner", "gold", "gold_score"),
)
"""The columns that a result, and the filters of a list, follow from. Not every protocol has all of them."""

_MISSING = "outcome in ('unparsed', 'failed', 'unasked')"

_CHOICE = f"""
case when {_MISSING} then 'missing'
  when family = '{Family.SUBSET}' or winner is null and variant = '{FORCED}' then 'unscored'
  when winner is null then if(choice in ('1', '2'), 'wrong', 'right')
  when choice = if((winner = 0) = ("order" = 'ab'), '1', '2') then 'right'
  else 'wrong' end
"""

_LABEL = f"""
case when outcome <> 'verdict' then 'missing'
  when coalesce(gold, '') = '' then 'unscored'
  when label is not null then if(label = gold, 'right', 'wrong')
  when gold_score is null or score is null then 'unscored'
  when abs(score - gold_score) < {TOLERANCE} then 'right'
  else 'wrong' end
"""

_GRADE = f"""
case when {_MISSING} then 'missing'
  when family <> '{Family.BLANK}' then 'unscored'
  when outcome = 'abstained' or score = 0 then 'right'
  when score > 0 then 'wrong'
  else 'unscored' end
"""


def result_column(columns: Collection[str], kind: JudgeKind) -> str:
    """Returns the SQL of the result of a trial, for judgments with these columns. Its value is a `Result`."""
    if kind == "compare":
        return _CHOICE if "winner" in columns else f"if({_MISSING}, 'missing', 'unscored')"
    return _LABEL if {"gold", "gold_score"} <= {*columns} else _GRADE
