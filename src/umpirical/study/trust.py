"""Trust in a study folder: what it would do on this machine is shown and agreed to, once, before any of it is done.

Agreements are kept with the user's own state and never in the folder, where a stranger could ship them. They hold for
the folder as it is: a destination, a variable or a file of code that is new, or has changed, is shown again.
"""

import hashlib
import json
import os
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from umpirical.datasets.readers import READERS
from umpirical.domain.errors import NotTrusted, UsageError
from umpirical.judges.code_files import digests_of, program_files, python_files
from umpirical.judges.endpoint_spec import HttpSpec, PromptfooSpec
from umpirical.judges.promptfoo import promptfoo
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import ADAPTERS, ModelSpec, TlsSpec
from umpirical.protocols.protocol import DataSource, Study
from umpirical.store.files import state_folder
from umpirical.store.runs import run_folders
from umpirical.text.inert import inert

PowerKind = Literal["send", "secret", "argument", "code", "data", "limit", "answers"]

GENERIC = frozenset({"ACCESS", "API", "AUTH", "JUDGE", "KEY", "LLM", "LOCAL", "MODEL", "MY", "SECRET", "TOKEN"})
"""Words in the name of a variable that do not say whose secret it holds."""

_PLAIN_URL = re.compile(r"https?://[^\s\\@#?\x00-\x20\x7f]+(\?[^\s\\@#\x00-\x20\x7f]*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Power:
    """One thing that a study would do."""

    kind: PowerKind
    words: str
    """What it does, as a verb phrase: `sends prompts to evil.example, port 80, unencrypted`."""
    content: str = ""
    """Digest of what it depends on, such as a file of code; another content is another power."""
    doubt: str = ""
    """Why a person should look twice; empty if nothing is odd."""

    @property
    def key(self) -> str:
        """Identifies what is agreed to."""
        return f"{self.kind}: {self.words} {self.content}".rstrip()


def powers_of(
    study: Study[Any], *, named: Collection[str] = (), data: bool = True, made_here: Collection[str] = ()
) -> list[Power]:
    """Returns what a study would do. A study of simulated judges on data in its folder does nothing of the kind.

    `named` are judges that the person has named in the command itself, and not by way of a file; without `data`, so
    were the data. `made_here` are runs that were made on this machine.
    """
    judges = [judge for judge in study.spec.judges if judge.name not in {*named, *study.found}]
    found = powers_of_judges(judges, study.folder)
    found += [power for _, model in study.protocol.models(study) for power in _of_model(model)]
    if data:
        found += [power for source in study.protocol.sources(study) for power in _of_source(source, study.folder)]
    found += _of_runs(study.folder, made_here)
    return list({power.key: power for power in found}.values())


def powers_of_judges(judges: Iterable[JudgeSpec], folder: Path) -> list[Power]:
    """Returns what asking judges would do; `folder` is where their code is looked up."""
    known = list(judges)
    found = [power for judge in known if judge.model for power in _of_model(judge.model)]
    found += [power for judge in known if judge.http for power in _of_endpoint(judge.http)]
    found += [power for judge in known if judge.exec for power in _of_program(folder, judge.exec)]
    found += [power for judge in known if judge.promptfoo for power in _of_promptfoo(folder, judge.promptfoo)]
    return [*found, *_of_code(folder, [judge.callable for judge in known if judge.callable])]


def _of_model(model: ModelSpec) -> Iterator[Power]:
    adapter = ADAPTERS.get(model.adapter)
    if adapter.simulated:
        return
    yield from _of_loaded(model) if adapter.loads else _of_served(model)
    for name, value in model.model_args.items():
        yield Power("argument", f"passes {name} = {value!r} to {model.name}")


def _of_served(model: ModelSpec) -> Iterator[Power]:
    provider = model.name.partition("/")[0] if ADAPTERS.get(model.adapter).names_provider else ""
    if model.base_url is not None:
        words, where = _destination(model.base_url)
    else:
        where = provider or f"the server that the adapter {model.adapter} chooses"
        words = f"{where}, through {model.adapter}" if provider else where
    yield Power("send", f"sends prompts to {words}")
    yield from _of_query(model.base_url or "", where)
    yield from _of_tls(model.tls, where)
    if model.api_key_env is not None:
        yield _of_secret(model.api_key_env, where, provider)
    elif provider:
        doubt = f"check this: the key is for {provider}" if model.base_url else ""
        yield Power("secret", f"sends your key for {provider} to {where}", doubt=doubt)


def _of_loaded(model: ModelSpec) -> Iterator[Power]:
    words = f"loads the model {model.name} with {model.adapter} on this machine"
    if ADAPTERS.get(model.adapter).is_downloaded(model):
        words += ", from the Hugging Face hub, with your token if you have one there"
    yield Power("code", words)


def _of_endpoint(http: HttpSpec) -> Iterator[Power]:
    words, where = _destination(http.url)
    yield Power("send", f"sends prompts to {words}")
    yield from _of_query(http.url, where)
    yield from _of_tls(http.tls, where)
    if http.api_key_env is not None:
        yield _of_secret(http.api_key_env, where)


def _of_query(url: str, where: str) -> Iterator[Power]:
    if query := url.partition("?")[2]:
        yield Power("argument", f"calls {where} with {query}")


def _of_tls(tls: TlsSpec | None, where: str) -> Iterator[Power]:
    if tls is None:
        return
    if tls.ca is not None:
        yield Power("data", f"reads {tls.ca}, and trusts its authorities to identify {where}")
    if tls.certificate is not None:
        files = tls.certificate if tls.key is None else f"{tls.certificate} and {tls.key}"
        yield Power("secret", f"identifies you to {where} with the certificate and key in {files}")


def _of_secret(variable: str, where: str, provider: str = "") -> Power:
    doubt = (
        ""
        if _belongs(variable, f"{where} {provider}")
        else "check this: the variable name looks like a secret for another service"
    )
    return Power("secret", f"sends the value of {variable} to {where}", doubt=doubt)


def _destination(url: str) -> tuple[str, str]:
    """Returns where a URL leads, in words, and the host alone. Refuses what two programs may read differently."""
    if not _PLAIN_URL.fullmatch(url):
        raise UsageError(
            # What stands before an @ or behind a question mark may be a secret.
            f"the base_url {_plain_part(url)!r} contains a user name, a fragment or invalid characters",
            fix="write scheme, host, port and path, and a query if the server wants one: https://host:8000/v1",
        )
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        # A letter that looks like another one is written in the letters that are really sent.
        host = host if host.isascii() else host.encode("idna").decode("ascii")
    except ValueError:
        raise UsageError(f"invalid base_url {url!r}", fix="for example https://host:8000/v1") from None
    secure = parts.scheme == "https"
    number = port or (443 if secure else 80)
    notes = [f"port {number}", *(() if secure else ("unencrypted",)), *(("on this machine",) if _is_here(host) else ())]
    return f"{host}, {', '.join(notes)}", f"{host}:{number}"


def _plain_part(url: str) -> str:
    """Returns a URL without a name, a password and a query."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{re.split('[?#]', rest, maxsplit=1)[0].rpartition('@')[2]}"


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _belongs(variable: str, owner: str) -> bool:
    """Whether the name of a variable goes with who gets it, or says nothing about whose it is."""
    words = [word for word in re.split(r"[^A-Za-z]+", variable.upper()) if word and word not in GENERIC]
    known = re.split(r"[^A-Z]+", owner.upper())
    return not words or any(word in part for word in words for part in known if part)


def _of_code(folder: Path, functions: list[str]) -> Iterator[Power]:
    for function in dict.fromkeys(functions):
        yield Power("code", f"runs the Python function {function}")
    if functions:
        for name, sha256 in digests_of(python_files(folder)).items():
            yield Power("code", f"may import {name}", sha256)


def _of_program(folder: Path, command: tuple[str, ...]) -> Iterator[Power]:
    doubt = (
        "check this: its code is in the command itself"
        if {"-c", "-e", "--eval", "-p", "--print"} & set(command)
        else ""
    )
    yield Power("code", f"runs the program {shlex.join(command)}, with your environment", doubt=doubt)
    for name, sha256 in digests_of(program_files(command, folder)).items():
        yield Power("code", f"may load {name}", sha256)


def _of_promptfoo(folder: Path, judge: PromptfooSpec) -> Iterator[Power]:
    words = f"{shlex.join(judge.command)} eval with assertion {judge.assertion} of {judge.config}"
    yield Power("code", f"runs the program {words}, with your environment")
    yield Power("send", f"sends prompts to the servers named in {judge.config}, with the code named there")
    for name, sha256 in digests_of(promptfoo().files(judge, folder)).items():
        yield Power("code", f"may load {name}", sha256)


def _of_source(source: DataSource, folder: Path) -> Iterator[Power]:
    path = (folder / source.name).resolve()
    own = source.format is not None and not READERS.is_built_in(source.format)
    if own:
        settings = ", ".join(f"{name} = {value!r}" for name, value in source.options.items())
        yield Power("data", f"reads {source.name} with the installed plugin for {source.format} ({settings})")
    elif source.format == "huggingface" and not path.exists():
        yield Power("data", f"downloads {source.name} from the Hugging Face hub, with your token if you have one there")
    if not path.is_relative_to(folder.resolve()):
        yield Power("data", f"reads {path}, the {source.what}, outside its folder")
    for name, (most, usual) in source.raised.items():
        yield Power("limit", f"raises dataset.limits.{name} from {usual:,} to {most:,}")


def _of_runs(folder: Path, made_here: Collection[str]) -> Iterator[Power]:
    for run in run_folders(folder):
        if run.name not in made_here:
            yield Power("answers", f"uses the answers in runs/{run.name}", _created(run / "run.json"))


def _created(manifest: Path) -> str:
    """Returns when a run says it was begun, which resuming it does not change."""
    try:
        found = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return "unreadable"
    return str(found.get("created")) if isinstance(found, dict) else "unreadable"


# What is agreed to, and where agreements are kept.


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be agreed to."""

    folder: Path
    powers: Sequence[Power]
    """Those that nobody has agreed to yet."""
    before: bool
    """Whether other powers of the folder were agreed to before."""

    @property
    def heading(self) -> str:
        if self.before:
            return f"{_one_line(str(self.folder))} has changed since you approved it. It now also"
        return f"{_one_line(str(self.folder))} is used here for the first time. It"

    def lines(self) -> list[str]:
        """Returns the powers in words, what is odd first."""
        ordered = sorted(self.powers, key=lambda power: not power.doubt)
        return [_one_line(f"{power.words}{f'   <- {power.doubt}' if power.doubt else ''}") for power in ordered]


def _one_line(text: str) -> str:
    """Makes foreign text inert, line ends included: a name must not add a line of its own to the list."""
    return inert(text).replace("\n", "⟦U+000A⟧").replace("\t", "⟦U+0009⟧")


Agree = Callable[[Asked], bool]
"""Shows what is asked, and returns whether a person agrees to it."""


def agree_to_all(_: Asked) -> bool:
    """Agrees for a caller who said so in advance."""
    return True


def agree_if(*, trust: bool) -> Agree:
    """Answers for a caller who cannot be asked, and has said or not said so in advance."""
    return agree_to_all if trust else agree_to_none


def agree_to_none(asked: Asked) -> bool:
    """Raises, with everything that was asked: nobody is there to answer."""
    raise NotTrusted(
        "\n  - ".join([asked.heading, *asked.lines()]),
        fix="review the list, then pass trust=True; nothing was sent and no code was run",
    )


def ensure_trusted(study: Study[Any], agree: Agree, *, named: Collection[str] = (), data: bool = True) -> None:
    """Raises NotTrusted unless everything that a study would do has been agreed to, earlier or now.

    `named` are judges that the person has named in the command itself. Without `data`, so were the data.
    """
    here = _made_here(_place(study.folder), study.folder)
    _ensure(study.folder, powers_of(study, named=named, data=data, made_here=here), agree)


def ensure_judge_trusted(judge: JudgeSpec, folder: Path, agree: Agree) -> None:
    """Raises NotTrusted unless what asking a judge would do has been agreed to: one that a run names, say."""
    _ensure(folder, powers_of_judges([judge], folder), agree)


def _ensure(folder: Path, powers: Sequence[Power], agree: Agree) -> None:
    place = _place(folder)
    agreed = _read(place)
    new = [power for power in powers if power.key not in agreed]
    if not new:
        return
    if not agree(Asked(folder, new, before=bool(agreed))):
        raise NotTrusted(
            "this study has not been approved; nothing was sent and no code was run",
            fix="review the list above, then run again with --trust, or answer yes at the prompt",
        )
    _write(place, folder, agreed, new)


def trust_as_made(study: Study[Any]) -> None:
    """Agrees to a study that the person's own command has just written."""
    ensure_trusted(study, agree_to_all)


def note_run(folder: Path, run: str) -> None:
    """Remembers that a run of a study is made on this machine, so that its answers are no stranger's."""
    with suppress(OSError):
        runs = _place(folder) / "runs"
        runs.mkdir(parents=True, exist_ok=True, mode=0o700)
        (runs / _name_digest(run)).touch(mode=0o600)


def _place(folder: Path) -> Path:
    """Returns where the agreements on a folder are kept: by its real path, so that a copy elsewhere is another one."""
    return state_folder() / "studies" / _name_digest(str(folder.resolve()))


def _name_digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def _read(place: Path) -> dict[str, str]:
    """Returns what was agreed to, and when. A file that somebody else could have written says nothing."""
    file = place / "agreed.json"
    try:
        status = file.lstat()
        if status.st_uid != os.getuid() or status.st_mode & 0o022:
            return {}
        found = json.loads(file.read_text(encoding="utf-8"))["agreed"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return {str(key): str(when) for key, when in found.items()} if isinstance(found, dict) else {}


def _write(place: Path, folder: Path, agreed: dict[str, str], new: Sequence[Power]) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    record = {"folder": str(folder.resolve()), "agreed": {**agreed, **{power.key: now for power in new}}}
    draft = place / f".agreed.{os.getpid()}.tmp"
    # An agreement that cannot be kept, as where the home cannot be written to, holds for this command.
    with suppress(OSError):
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        text = json.dumps(record, indent=1).encode("ascii")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(text)
        draft.replace(place / "agreed.json")


def _made_here(place: Path, folder: Path) -> set[str]:
    return {run.name for run in run_folders(folder) if (place / "runs" / _name_digest(run.name)).is_file()}
