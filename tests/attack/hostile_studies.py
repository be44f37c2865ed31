"""Study folders as a stranger might send them. Each asks for something that nobody has agreed to."""

import json
import py_compile
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CANARY = "canary-9f2c41d7"
"""The value of a secret on this machine, and a text in a file outside the folder: it must never be seen anywhere."""

SECRET = "AWS_SECRET_ACCESS_KEY"  # noqa: S105  # the name of a variable


@dataclass
class Traps:
    """What the stranger waits with, and what they are after."""

    url: str
    """A server that counts its requests."""
    ran: Path
    """A file that hostile code writes if it is run."""
    outside: Path
    """A folder beside the study with data that the canary is in."""
    run: Path | None = None
    """A finished run of simulated judges, with its stimuli beside it."""
    names: list[str] = field(default_factory=list)


Write = Callable[[Path, Traps], None]

HOSTILE: dict[str, Write] = {}
"""What writes each folder, by name."""


def _hostile(write: Write) -> Write:
    HOSTILE[write.__name__.strip("_").replace("_", "-")] = write
    return write


def _study(folder: Path, *judges: dict[str, Any], **keys: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "umpirical.yaml").write_text(
        json.dumps({"study": "theirs", "judges": list(judges), **({} if "dataset" in keys else SMALL), **keys})
    )


def _model(url: str, **changes: object) -> dict[str, Any]:
    model = {"adapter": "openai-compatible", "name": "m", "base_url": url, "api_key_env": SECRET, "price": "free"}
    return {"name": "theirs", "model": {key: value for key, value in (model | changes).items() if value is not None}}


SMALL = {"design": {"size": "screen"}}
SIMULATED = {"name": "theirs", "model": {"adapter": "simulated", "name": "careful"}}
EXAMINER = {"name": "theirs", "model": {"adapter": "simulated", "name": "sound-examiner"}}
SCALE = {"kind": "ordinal", "labels": ["1", "2", "3"]}


def _stress(folder: Path, *judges: dict[str, Any], path: str = "data.csv", **keys: Any) -> None:
    dataset = {"path": path, "columns": {"response": "text", "label": "label"}, "scale": SCALE, "task_text": "Why?"}
    _study(folder, *(judges or (EXAMINER,)), dataset=dataset | keys.pop("dataset", {}), **keys)
    (folder / "rubric.txt").write_text("3 is right, 1 is wrong.")
    (folder / "data.csv").write_text("text,label\nblue,1\nred,2\ngreen,3\n")


def _code(traps: Traps) -> str:
    leave = f"with open({str(traps.ran)!r}, 'a') as file:\n    file.write('ran')\n"
    return f"{leave}def judge(task, first, second=''):\n    return '1'\n"


def _variants(name: str, /, **changes: Any) -> None:
    """A judge behind the stranger's server, in one of many spellings."""

    def write(folder: Path, traps: Traps) -> None:
        made = {key: value(traps.url) if callable(value) else value for key, value in changes.items()}
        _study(folder, _model(traps.url, **made))

    HOSTILE[name] = write


_variants("plain")
_variants("no-price", price=None)
_variants("price-of-zero", price={"input": 0, "output": 0})
_variants("no-key", api_key_env=None)
_variants("localhost", base_url=lambda url: url.replace("127.0.0.1", "localhost"))
_variants("short-address", base_url=lambda url: url.replace("127.0.0.1", "127.1"))
_variants("decimal-address", base_url=lambda url: url.replace("127.0.0.1", "2130706433"))
_variants("user-in-url", base_url=lambda url: url.replace("http://", "http://api.openai.com@"))
_variants("backslash", base_url=lambda url: url.replace("/v1", "\\@api.openai.com/v1"))
_variants("query", base_url=lambda url: f"{url}?next=api.openai.com")
_variants("fragment", base_url=lambda url: f"{url}#api.openai.com")
_variants("line-in-url", base_url=lambda url: f"{url}/\nsends nothing")
_variants("escape-in-url", base_url=lambda url: f"{url}/\x1b[2K\x1b]52;c;Y2FuYXJ5\x07")
_variants("upper-case", base_url=lambda url: url.replace("http:", "HTTP:"))
_variants("dots", base_url=lambda url: f"{url}/../../v1")
_variants("escape-in-variable", api_key_env=f"{SECRET}\x1b[1A")
_variants("home-variable", api_key_env="HOME")
_variants("inspect-base-url", adapter="inspect", name="openai/gpt-4o", api_key_env=None)
_variants("inspect-key", adapter="inspect", name="openai/gpt-4o")
_variants("inspect-other-provider", adapter="inspect", name="anthropic/claude-3-5-haiku-latest")
_variants("inspect-any-api", adapter="inspect", name="openai-api/theirs/m")
_variants(
    "inspect-arguments", adapter="inspect", name="hf/theirs", base_url=None, model_args={"trust_remote_code": True}
)
_variants("inspect-batch", adapter="inspect", name="openai/gpt-4o", batch=True)


@_hostile
def _second_judge(folder: Path, traps: Traps) -> None:
    _study(folder, SIMULATED | {"name": "sound"}, _model(traps.url))


@_hostile
def _grader(folder: Path, traps: Traps) -> None:
    _study(folder, _model(traps.url) | {"kind": "grade", "scale": SCALE})


@_hostile
def _judge_file(folder: Path, traps: Traps) -> None:
    folder.mkdir()
    (folder / "theirs.yaml").write_text(json.dumps(_model(traps.url)))


@_hostile
def _function(folder: Path, traps: Traps) -> None:
    _study(folder, {"name": "theirs", "callable": "their_judge:judge"})
    (folder / "their_judge.py").write_text(_code(traps))


@_hostile
def _engine(folder: Path, traps: Traps) -> None:
    """A model in the folder itself, beside what pretends to be the engine that loads it."""
    _study(folder, {"name": "theirs", "model": {"adapter": "vllm", "name": str(folder.resolve())}})
    (folder / "vllm.py").write_text(_code(traps))
    (folder / "config.json").write_text(json.dumps({"auto_map": {"AutoConfig": "theirs.Config"}}))
    (folder / "theirs.py").write_text(_code(traps))


@_hostile
def _function_in_a_package(folder: Path, traps: Traps) -> None:
    _study(folder, {"name": "theirs", "callable": "their_package.deep:judge"})
    (folder / "their_package").mkdir()
    (folder / "their_package" / "__init__.py").write_text(_code(traps))
    (folder / "their_package" / "deep.py").write_text(_code(traps))


@_hostile
def _function_of_the_machine(folder: Path, traps: Traps) -> None:  # noqa: ARG001
    _study(folder, {"name": "theirs", "callable": "os:system"})


@_hostile
def _function_that_shadows(folder: Path, traps: Traps) -> None:
    _study(folder, {"name": "theirs", "callable": "colorsys:judge"})
    (folder / "colorsys.py").write_text(_code(traps))


@_hostile
def _program(folder: Path, traps: Traps) -> None:
    _study(folder, {"name": "theirs", "exec": [sys.executable, "judge.py"]})
    (folder / "judge.py").write_text(_code(traps))


@_hostile
def _program_of_the_machine(folder: Path, traps: Traps) -> None:
    _study(folder, {"name": "theirs", "exec": ["sh", "-c", f"echo ran >> {traps.ran}; env"]})


@_hostile
def _endpoint(folder: Path, traps: Traps) -> None:
    http = {"url": f"{traps.url}/judge", "body": {"a": "{{first}}", "b": "{{second}}"}, "api_key_env": SECRET}
    _study(folder, {"name": "theirs", "http": http})


@_hostile
def _endpoint_for_grades(folder: Path, traps: Traps) -> None:
    http = {"url": f"{traps.url}?a=b", "body": ["{{response}}"], "headers": {"X": "{{key}}"}, "api_key_env": SECRET}
    _study(folder, {"name": "theirs", "kind": "grade", "scale": SCALE, "http": http})


@_hostile
def _compiled_only(folder: Path, traps: Traps) -> None:
    _study(folder, {"name": "theirs", "callable": "their_compiled:judge"})
    source = folder / "source.txt"
    source.write_text(_code(traps))
    py_compile.compile(str(source), cfile=str(folder / "their_compiled.pyc"), doraise=True)


@_hostile
def _modules_lying_about(folder: Path, traps: Traps) -> None:
    _study(folder, _model(traps.url))
    for name in ("sitecustomize", "usercustomize", "conftest", "click", "yaml", "datasets", "re2", "duckdb", "rich"):
        (folder / f"{name}.py").write_text(_code(traps))
    (folder / "theirs.egg-info").mkdir()
    (folder / "theirs.egg-info" / "entry_points.txt").write_text("[umpirical.models]\ntheirs = click:judge\n")
    (folder / "theirs.egg-info" / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    (folder / ".env").write_text(f"OPENAI_BASE_URL={traps.url}\nHF_ENDPOINT={traps.url}\n")


@_hostile
def _shipped_agreement(folder: Path, traps: Traps) -> None:
    _study(folder, _model(traps.url))
    for place in (".local/state/umpirical/studies", ".umpirical", "umpirical/studies"):
        (folder / place).mkdir(parents=True)
        (folder / place / "agreed.json").write_text('{"agreed": {"send": "all"}}')


@_hostile
def _generator(folder: Path, traps: Traps) -> None:
    writers = {name: {"model": _model(traps.url, name=name)["model"]} for name in ("generator", "validator")}
    _stress(folder, stress={"tests": ["label-flip"], **writers}, rubric="rubric.txt")


@_hostile
def _stressed_judge(folder: Path, traps: Traps) -> None:
    _stress(folder, _model(traps.url))


def _outside(name: str, /, **keys: Any) -> None:
    """A file of the machine that a study names, by its path and by a link."""

    def write(folder: Path, traps: Traps) -> None:
        told = {key: value(traps) if callable(value) else value for key, value in keys.items()}
        _stress(folder, **told)

    HOSTILE[name] = write


_outside("dataset-outside", path=lambda traps: str(traps.outside / "data.csv"))
_outside("dataset-above", path=lambda traps: f"../{traps.outside.name}/data.csv")
_outside("rubric-outside", rubric=lambda traps: str(traps.outside / "secret.txt"))
_outside("instruction-outside", instruction=lambda traps: f"../{traps.outside.name}/secret.txt")
_outside("guideline-outside", review=lambda traps: {"guideline": str(traps.outside / "secret.txt")})
_outside("dataset-on-the-hub", path="theirs/data", dataset={"format": "huggingface"})
_outside("raised-limits", dataset={"limits": {"bytes": 1 << 50, "rows": 1 << 40, "field": 100_000_000}})


def _hugging_face(name: str, write: Callable[[Path, Traps], None]) -> None:
    def study(folder: Path, traps: Traps) -> None:
        _stress(folder, path="theirs", dataset={"format": "huggingface"})
        (folder / "theirs").mkdir()
        write(folder / "theirs", traps)

    HOSTILE[f"hugging-face-{name}"] = study


def _card(path: Callable[[Traps], object]) -> Callable[[Path, Traps], None]:
    def write(data: Path, traps: Traps) -> None:
        head = json.dumps({"configs": [{"config_name": "default", "data_files": path(traps)}]})
        (data / "README.md").write_text(f"---\n{head}\n---\nData.\n")
        (data / "own.csv").write_text("text,label\nblue,1\nred,2\ngreen,3\n")

    return write


_hugging_face("absolute", _card(lambda traps: str(traps.outside / "data.csv")))
_hugging_face("above", _card(lambda traps: f"../../{traps.outside.name}/data.csv"))
_hugging_face("above-by-a-pattern", _card(lambda traps: f"../../{traps.outside.name}/*.csv"))
_hugging_face("url", _card(lambda traps: f"{traps.url}/data.csv"))
_hugging_face("chain", _card(lambda traps: f"zip://data.csv::{traps.url}/data.zip"))
_hugging_face("split", _card(lambda traps: [{"split": "test", "path": [f"{traps.url}/data.csv"]}]))
_hugging_face("mapping", _card(lambda traps: {"train": str(traps.outside / "data.csv")}))
_hugging_face("from-the-hub", _card(lambda _: "hf://datasets/theirs/data/x.csv"))


def _linked(data: Path, traps: Traps) -> None:
    (data / "data.csv").symlink_to(traps.outside / "data.csv")


def _linked_folder(data: Path, traps: Traps) -> None:
    (data / "train").symlink_to(traps.outside)


def _saved(data: Path, traps: Traps) -> None:
    (data / "dataset_info.json").write_text("{}")
    (data / "state.json").write_text(
        json.dumps({"_data_files": [{"filename": f"../../{traps.outside.name}/data.arrow"}], "_split": None})
    )


def _saved_splits(data: Path, traps: Traps) -> None:
    (data / "dataset_dict.json").write_text(json.dumps({"splits": [f"../../{traps.outside.name}"]}))


def _other_card(data: Path, traps: Traps) -> None:
    head = json.dumps({"configs": [{"config_name": "default", "data_files": str(traps.outside / "data.csv")}]})
    (data / ".huggingface.yaml").write_text(head)
    (data / "own.csv").write_text("text,label\nblue,1\nred,2\n")


_hugging_face("link", _linked)
_hugging_face("linked-folder", _linked_folder)
_hugging_face("saved", _saved)
_hugging_face("saved-splits", _saved_splits)
_hugging_face("other-card", _other_card)


def _shipped(folder: Path, traps: Traps, judge: dict[str, Any], *, name: str = "theirs-1") -> None:
    """A finished run whose manifest says that somebody else was asked."""
    assert traps.run is not None
    shutil.copytree(traps.run.parents[1] / "stimuli", folder / "stimuli")
    shutil.copytree(traps.run, folder / "runs" / name)
    manifest = folder / "runs" / name / "run.json"
    made = json.loads(manifest.read_text())
    empty = {"model": None, "callable": None}
    manifest.write_text(json.dumps(made | {"judge": made["judge"] | empty | judge}))


@_hostile
def _shipped_run(folder: Path, traps: Traps) -> None:
    _study(folder, SIMULATED)
    _shipped(folder, traps, SIMULATED)


@_hostile
def _shipped_run_of_a_server(folder: Path, traps: Traps) -> None:
    _study(folder, SIMULATED)
    _shipped(folder, traps, _model(traps.url))


@_hostile
def _shipped_run_of_a_function(folder: Path, traps: Traps) -> None:
    _study(folder, SIMULATED)
    (folder / "their_runs_judge.py").write_text(_code(traps))
    _shipped(folder, traps, {"name": "theirs", "callable": "their_runs_judge:judge", "prompts": {}})


@_hostile
def _shipped_run_with_a_pattern(folder: Path, traps: Traps) -> None:
    _study(folder, SIMULATED)
    _shipped(folder, traps, SIMULATED | {"answer": {"pattern": r"^(\s*[^!]*)*(?P<answer>!)$"}})


@_hostile
def _shipped_run_with_escapes(folder: Path, traps: Traps) -> None:
    _shipped_run_of_a_function(folder, traps)
    (folder / "runs" / "theirs-1").rename(folder / "runs" / "theirs-\x1b]52;c;Y2FuYXJ5\x07\x1b[2Jx")
