"""Commands to start with: init, demo, draft, doctor, prices, schema and completion."""

import os
import platform
import shlex
import shutil
import sys
import tempfile
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, Decimal
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import get_completion_class

from umpirical.cli.options import SpendingFlags, agree, gathered, out_option, spending_options, tell_spent
from umpirical.cli.terminal import MAKING_STIMULI, remark, say, say_json, say_verdict

if TYPE_CHECKING:
    from umpirical.api.extras import Draft, DraftPlan, Reply
    from umpirical.models.money import Pricer
    from umpirical.models.prices import KnownPrice, Rate
    from umpirical.store.budget import Booked
    from umpirical.study.demo import DemoResult


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path())
@click.option(
    "--from",
    "data",
    type=click.Path(path_type=Path, exists=True),
    help="Your data: responses with labels or labeled pairs (CSV, XLSX, JSONL, Parquet) or agent logs. Or your judge: "
    "an OpenAI grader (JSON), promptfooconfig.yaml, or the config.yml of a Judge Reliability Harness.",
)
@click.option("--response", metavar="COLUMN", help="With --from: the column of the judged text. Default: guessed.")
@click.option("--label", metavar="COLUMN", help="With --from: the column of the reference label. Default: guessed.")
@click.option("--task", metavar="COLUMN", help="With --from: the column of the task. Default: guessed.")
def init_command(folder: Path, data: Path | None, response: str | None, label: str | None, task: str | None) -> None:
    """Create a study in FOLDER that runs as it is, with simulated judges and comments that show where to add yours."""
    from umpirical.protocols.catalogue import start_study
    from umpirical.study.file import read_study
    from umpirical.study.trust import trust_as_made

    if data is None and (response or label or task):
        raise click.UsageError("--response, --label and --task need a file: add --from FILE")
    named = {"response": response, "label": label, "task": task}
    told = {role: column for role, column in named.items() if column is not None}
    started = start_study(folder, data=data, told=told)
    study = read_study(started.file, outside=True)
    if not started.runs_code:
        trust_as_made(study)
    for path in started.written:
        say(f"wrote {path}")
    for note in started.notes:
        say(note)
    options = f" {started.options}" if started.options else ""
    place = shlex.quote(str(folder))
    steps = ("check", "generate", "run") if started.generates else ("check", "run")
    say("next:  " + "    then  ".join(f"umpirical {step} {place}{options}" for step in steps))


# `umpirical demo`.


@click.command("demo")
@out_option("a new one")
@click.option("--no-open", is_flag=True, help="Do not open the datasheets in a browser.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def demo_command(out: Path | None, no_open: bool, as_json: bool) -> None:  # noqa: FBT001
    """Test seven simulated judges, one sound and six flawed, and compare the known defects with the measured ones.

    Needs no API key and no network.
    """
    from umpirical.progress import watch_run
    from umpirical.study.demo import run_demo

    folder = out or Path(tempfile.mkdtemp(prefix="umpirical-demo-"))
    folder.mkdir(parents=True, exist_ok=True)
    results = []
    remark(MAKING_STIMULI)
    for result in run_demo(folder, watch_run):
        results.append(result)
        if not as_json:
            _show_demo(result)
    if as_json:
        say_json([_demo_summary(result) for result in results])
        return
    from umpirical.view.gallery import write_gallery

    index = write_gallery(folder, folder / "gallery").index
    say(f"\nAll datasheets:  {index}")
    say(f"Next:  umpirical compare {shlex.quote(str(folder))}  to see which judge to use for what")
    say("       umpirical init my-study  to test your own judge")
    if not no_open and sys.stdout.isatty():
        click.launch(str(index))


def _show_demo(result: "DemoResult") -> None:
    from umpirical.reports.numbers import measured_interval, measured_value

    say(f"\n{result.judge}: {result.about}")
    if result.decision:
        say_verdict(result.decision.verdict, result.decision.line, indent="  ")
    records = {(measure.name, measure.stratum): measure for measure in result.record.measures}
    for found in result.defects:
        record = records[found.measure, found.stratum]
        part = f" at {found.stratum}" if found.stratum else ""
        measured = f"{measured_value(record, found.estimate)} {measured_interval(record, found.estimate.interval)}"
        said = "found" if found.inside else "MISSED"
        say(f"  {record.title}{part}: true value {found.true_value:.3f}, measured {measured}  {said}")


def _demo_summary(result: "DemoResult") -> dict[str, Any]:
    return {
        "judge": result.judge,
        "about": result.about,
        "decision": result.decision.verdict if result.decision else None,
        "datasheet": str(result.documents.json),
        "html": str(result.documents.html),
        "defects": [
            {
                "measure": found.measure,
                "stratum": found.stratum,
                "true_value": found.true_value,
                "measured": found.estimate.value,
                "interval": asdict(found.estimate.interval) if found.estimate.interval else None,
                "inside": found.inside,
            }
            for found in result.defects
        ],
    }


# `umpirical draft`.


SHOWN = 10
"""How many problems are printed; the file beside the draft lists them all."""


@dataclass(frozen=True, slots=True)
class DraftFlags:
    """The model that drafts, and how much it may write."""

    name: str
    base_url: str | None
    api_key_env: str | None
    rounds: int
    max_tokens: int


@click.command("draft")
@gathered("model", DraftFlags)
@click.argument("rubric", type=click.Path(path_type=Path))
@click.option(
    "--model", "name", required=True, help="The model that drafts: provider/model, or its name at --base-url."
)
@click.option("--base-url", help="URL of an OpenAI-compatible server, such as http://127.0.0.1:8000/v1")
@click.option("--api-key-env", metavar="NAME", help="Environment variable that holds the key; never the key itself.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), default=Path("my-task.yaml"), show_default=True)
@click.option("--rounds", default=3, show_default=True, type=click.IntRange(1, 10), help="Most calls to make.")
@click.option(
    "--max-tokens",
    default=12_000,
    show_default=True,
    type=click.IntRange(500, 200_000),
    help="Longest reply, in tokens.",
)
@spending_options
def draft_command(rubric: Path, out: Path, model: DraftFlags, flags: SpendingFlags) -> int:
    """Draft tasks from RUBRIC, a text or Markdown file that describes a good answer.

    A model writes them, and a program finds faults and has the model fix them. Then you read them: they are not used
    until you set `reviewed: true` in the file. You see the cost first and approve it.
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
    spec = drafting_model(model.name, base_url=model.base_url, api_key_env=model.api_key_env)
    pricer = pricer_of(spec, flags.price_overrides(), allow_unpriced=flags.allow_unpriced)
    rounds, max_tokens = model.rounds, model.max_tokens
    plan = plan_draft(spec, text, pricer, rounds=rounds, max_tokens=max_tokens)
    account = f"draft {out.name}"
    spending = Spending(out.parent, {account: Bill})
    spending.cap = _agree_to_draft(plan, model.name, pricer, flags, spending.booked())
    ledger = spending.ledger(account)
    replies = out.with_suffix(".replies.jsonl")

    def keep(reply: "Reply") -> None:
        append_reply(replies, reply)
        count = len(reply.problems)
        found = f"{count} problem{'' if count == 1 else 's'}" if count else "no problems found"
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
    listed = write_draft(draft, out, by=model.name, rubric=rubric.name)
    _show_draft(draft, out, listed)
    return 5 if draft.problems else 0


def _refuse_to_overwrite(out: Path) -> None:
    from umpirical.domain.errors import UsageError

    if out.suffix not in (".yaml", ".yml"):
        raise UsageError(f"{out} is not a YAML file", fix=f"--out {out.with_suffix('.yaml')}")
    if out.exists():
        raise UsageError(f"{out} already exists", fix="name another file with --out; nothing was sent")
    if not out.parent.is_dir():
        raise UsageError(f"there is no folder {out.parent}", fix="create it; nothing was sent")


def _agree_to_draft(
    plan: "DraftPlan", name: str, pricer: "Pricer", flags: SpendingFlags, booked: "Booked"
) -> Decimal | None:
    """Shows what may be sent and spent, and asks for consent if it may be billed. Returns the budget."""
    most = (plan.at_most or Decimal(0)).quantize(Decimal("0.0001"), ROUND_CEILING)
    price = f"at most ${most} ({pricer.table})" if most else "no price is known" if plan.at_most is None else "free"
    remark(f"draft: up to {plan.calls} calls to {name}, {price}")
    remark(f"  the first sends the rubric, up to {plan.input_tokens:,} tokens")
    unseen = f"up to {plan.calls} calls whose price is unknown here" if plan.at_most is None else ""
    return agree(flags, most=most, booked=booked, unseen=unseen)


def _show_draft(draft: "Draft", out: Path, listed: Path | None) -> None:
    tasks, requirements = len(draft.family.sets), len(draft.family.names)
    say(f"wrote {out}: {tasks} tasks of {requirements} requirements, reviewed: false")
    for problem in draft.problems[:SHOWN]:
        say(f"  problem: {problem}")
    if listed is not None:
        more = f"{len(draft.problems) - SHOWN} more in " if len(draft.problems) > SHOWN else "the list is in "
        say(f"  {more}{listed}")
    say("next:  read and correct every sentence; a program cannot tell whether it makes sense")
    say(f"       then set reviewed: true, add {out.name} under tasks in the study file, and run  umpirical check")
    say("       add several families, built-in ones included: one family alone gives no interval")


# `umpirical doctor`.


PARTS = (
    "umpirical",
    "aiohttp",
    "click",
    "duckdb",
    "genai-prices",
    "jinja2",
    "numpy",
    "pyarrow",
    "pydantic",
    "rich",
    "scipy",
    "stamina",
)


@click.command("doctor")
@click.argument("study", type=click.Path(path_type=Path), default=Path())
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def doctor_command(study: Path, as_json: bool) -> None:  # noqa: FBT001
    """Show versions, free disk space, and which API keys, proxies and certificates STUDY uses.

    Never shows a key or a password.
    """
    folder = study if study.is_dir() else study.parent
    facts: dict[str, str] = {"python": platform.python_version(), "platform": platform.platform(terse=True)}
    facts |= {part: version(part) for part in PARTS}
    facts["free disk"] = f"{shutil.disk_usage(folder).free / 1e9:.0f} GB"
    facts |= _reached(study)
    if as_json:
        say_json(facts)
        return
    for name, value in facts.items():
        say(f"{name:<14} {value}")


def _reached(study: Path) -> dict[str, str]:
    """Returns which keys the judges of a study have, and how their servers are reached."""
    from umpirical.models.adapters.exchanges import way_to
    from umpirical.models.spec import ADAPTERS
    from umpirical.protocols.protocol import STUDY_FILE
    from umpirical.study.file import read_study

    file = study / STUDY_FILE if study.is_dir() else study
    if not file.is_file():
        return {"study": "none here; `umpirical init` creates one"}
    keys, ways = dict[str, str](), dict[str, str]()
    for judge in read_study(file).spec.judges:
        if (asked := judge.model or judge.http) is None:
            continue
        if name := asked.api_key_env:
            keys[name] = "set" if os.environ.get(name) else "not set"
        adapter = ADAPTERS.get(judge.model.adapter) if judge.model else None
        url = judge.http.url if judge.http else judge.model and judge.model.base_url
        if url and (adapter is None or adapter.takes_tls):
            ways[f"way to {judge.name}"] = way_to(url, asked.tls)
        elif adapter and not (adapter.simulated or adapter.loads):
            ways[f"way to {judge.name}"] = "through the provider's client, which has its own proxy settings"
    return dict(sorted(keys.items())) | ways


# `umpirical prices`.


WORDS = {
    "input_mtok": ("input", "per million tokens"),
    "output_mtok": ("output", "per million tokens"),
    "cache_read_mtok": ("cached input", "per million tokens"),
    "requests_kcount": ("calls", "per thousand"),
}


@click.command("prices")
@click.argument("models", nargs=-1, required=True, metavar="MODEL")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def prices_command(models: tuple[str, ...], as_json: bool) -> None:  # noqa: FBT001
    """Show the known price of MODEL and its source.

    MODEL is openai/gpt-4o, or gpt-4o for every provider that offers it.
    """
    from umpirical.domain.errors import UsageError

    if models[0] == "show" and len(models) > 1:
        raise UsageError("`prices show` is called `prices` now", fix=f"umpirical prices {models[1]}")
    for model in models:
        _show_prices(model, as_json=as_json)


def _show_prices(model: str, *, as_json: bool) -> None:
    from umpirical.domain.errors import UsageError
    from umpirical.models.prices import PricedModel, known_prices, near_names

    found = known_prices(model)
    if not found:
        near = ", ".join(near_names(PricedModel(model)))
        hint = f"known: {near}" if near else f"set it with  umpirical run --price {model}=IN,OUT"
        raise UsageError(f"unknown price for {model}", fix=hint)
    if as_json:
        say_json([asdict(price) for price in found])
        return
    for price in found:
        _say(price)


def _say(price: "KnownPrice") -> None:
    say(f"{price.model}  at {price.provider}  from {price.table}")
    for rate in price.rates:
        say(f"  {_rate(rate)}")
    if not price.rates:
        say("  no rate is listed")
    if price.comment:
        say(f"  {price.comment}")
    for url in price.urls[:1]:
        say(f"  the provider's own list: {url}")


def _rate(rate: "Rate") -> str:
    name, per = WORDS[rate.key]
    tiers = "".join(f"; ${price:f} if a call has over {start:,} input tokens" for start, price in rate.tiers)
    return f"{name:<12}  ${rate.base:f} {per}{tiers}"


# `umpirical schema`.


@click.command("schema")
@click.argument("what", default="")
def schema_command(what: str) -> None:
    """Print the JSON Schema of WHAT: config (a study file), policy, datasheet, stress, pairs, agent, and others.

    Without WHAT, list all of them.
    """
    from umpirical.api.extras import OTHERS, schema_of
    from umpirical.domain.errors import UsageError
    from umpirical.protocols.catalogue import PROTOCOLS
    from umpirical.protocols.protocol import DecidesByPolicy
    from umpirical.study.file import study_schema

    if (found := schema_of(what)) is not None:
        say_json(found.rstrip("\n"))
        return
    if what == "policy":
        for protocol in PROTOCOLS:
            if isinstance(protocol, DecidesByPolicy) and (schema := protocol.policy_schema()):
                say(schema.rstrip("\n"))
        return
    if what == "config":
        say_json(study_schema())
        return
    known = ["config", "policy", *PROTOCOLS.names(), *OTHERS]
    if not what:
        say("\n".join(known))
        return
    if what not in PROTOCOLS.names():
        raise UsageError(f"unknown schema {what!r}", fix=f"choose one of {', '.join(known)}")
    say_json(PROTOCOLS.get(what).schema().rstrip("\n"))


# `umpirical completion`.


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print a script for SHELL that completes commands and options.

    In bash:  eval "$(umpirical completion bash)"
    """
    kind = get_completion_class(shell)
    if kind is None:  # pragma: no cover  # click has all three
        raise click.UsageError(f"click completes nothing in {shell}")
    whole = context.find_root().command
    say(kind(whole, {}, "umpirical", "_UMPIRICAL_COMPLETE").source().rstrip("\n"))
