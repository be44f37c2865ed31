"""`umpirical draft`."""

from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click

from umpirical.cli.consent import Terms, agree, spending_options, tell_spent
from umpirical.cli.terminal import remark, say

if TYPE_CHECKING:
    from umpirical.api.extras import Draft, DraftPlan, Reply
    from umpirical.models.money import Pricer
    from umpirical.store.budget import Booked

SHOWN = 10
"""How many problems are printed; the file beside the draft lists them all."""


@click.command("draft")
@click.argument("rubric", type=click.Path(path_type=Path))
@click.option(
    "--model", "name", required=True, help="The model that drafts: provider/model, or its name at --base-url."
)
@click.option("--base-url", help="URL of an OpenAI-compatible server: http://127.0.0.1:8000/v1")
@click.option("--api-key-env", metavar="NAME", help="Environment variable that holds the key; never the key itself.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=Path("my-task.yaml"), show_default=True)
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(1, 10), help="Calls to make at most.")
@click.option(
    "--max-tokens", default=12_000, show_default=True, type=click.IntRange(500, 200_000), help="Limit for one reply."
)
@spending_options
def command(  # noqa: PLR0913, PLR0917  # each an option
    rubric: Path,
    name: str,
    base_url: str | None,
    api_key_env: str | None,
    out: Path,
    rounds: int,
    max_tokens: int,
    yes: bool,  # noqa: FBT001
    max_cost: Decimal | None,
    prices: tuple[str, ...],
    allow_unpriced: bool,  # noqa: FBT001
) -> int:
    """Draft a family of tasks from RUBRIC, a text or Markdown file that says what a good answer does.

    A model writes it, a program looks for faults and has the model fix them, and you read it: nothing is measured with
    the family until you have set reviewed: true in it. The possible cost is shown first.
    """
    from umpirical.api.extras import (
        append_reply,
        draft_family,
        drafting_model,
        plan_draft,
        read_rubric,
        write_draft,
    )
    from umpirical.domain.bills import Bill
    from umpirical.models.money import CapReached, Meter
    from umpirical.models.prices import pricer_of
    from umpirical.study.spending import Spending

    _refuse_to_overwrite(out)
    text = read_rubric(rubric)
    spec = drafting_model(name, base_url=base_url, api_key_env=api_key_env)
    terms = Terms(yes, max_cost, prices, allow_unpriced)
    pricer = pricer_of(spec, terms.price_overrides(), allow_unpriced=allow_unpriced)
    plan = plan_draft(spec, text, pricer, rounds=rounds, max_tokens=max_tokens)
    account = f"draft {out.name}"
    spending = Spending(out.parent, {account: Bill})
    spending.cap = _agree(plan, name, pricer, terms, spending.booked())
    ledger = spending.ledger(account)
    replies = out.with_suffix(".replies.jsonl")

    def keep(reply: "Reply") -> None:
        append_reply(replies, reply)
        count = len(reply.problems)
        found = f"{count} problem{'' if count == 1 else 's'}" if count else "no problem found by the program"
        what = f"no reply ({reply.response.failure})" if reply.response.failure else f"a reply, {found}"
        remark(f"  {what}; kept in {replies}")

    try:
        draft = draft_family(spec, text, Meter(pricer, ledger), rounds=rounds, max_tokens=max_tokens, keep=keep)
    except CapReached as reached:
        ledger.close()
        raise spending.go_on(reached, plan.at_most or Decimal(0)) from None
    finally:
        ledger.close()
        tell_spent(spending)
    listed = write_draft(draft, out, by=name, rubric=rubric.name)
    _show(draft, out, listed)
    return 5 if draft.problems else 0


def _refuse_to_overwrite(out: Path) -> None:
    from umpirical.domain.errors import UsageError

    if out.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{out} is not a YAML file", fix=f"--out {out.with_suffix('.yaml')}")
    if out.exists():
        raise UsageError(f"{out} already exists", fix="name another file with --out; nothing was sent")
    if not out.parent.is_dir():
        raise UsageError(f"there is no folder {out.parent}", fix="create it; nothing was sent")


def _agree(plan: "DraftPlan", name: str, pricer: "Pricer", terms: Terms, booked: "Booked") -> Decimal | None:
    """Shows what may be sent and spent, and asks for consent if it may be billed. Returns the budget."""
    most = (plan.at_most or Decimal(0)).quantize(Decimal("0.0001"), ROUND_CEILING)
    price = f"at most ${most} ({pricer.table})" if most else "no price is known" if plan.at_most is None else "free"
    remark(f"draft: up to {plan.calls} calls to {name}, {price}")
    remark(f"  the first sends the rubric, up to {plan.input_tokens:,} tokens")
    unseen = f"up to {plan.calls} calls whose price is unknown here" if plan.at_most is None else ""
    return agree(terms, most=most, booked=booked, unseen=unseen)


def _show(draft: "Draft", out: Path, listed: Path | None) -> None:
    tasks, requirements = len(draft.family.sets), len(draft.family.names)
    say(f"wrote {out}: {tasks} tasks of {requirements} requirements, reviewed: false")
    for problem in draft.problems[:SHOWN]:
        say(f"  problem: {problem}")
    if listed is not None:
        more = f"{len(draft.problems) - SHOWN} more in " if len(draft.problems) > SHOWN else "the list is in "
        say(f"  {more}{listed}")
    say("next:  read and correct every sentence; a program recognizes neither nonsense nor what the rubric meant")
    say(f"       then set reviewed: true, name {out.name} under tasks in the study file, and run  umpirical check")
    say("       name several families there, built-in ones among them: one family alone gives no interval")
