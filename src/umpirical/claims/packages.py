"""Release packages: a folder with everything about a run that can be published, and its manifest.

    manifest.json            what this is, how its texts may be used, and the digest of every other file
    datasheet.json           the record of the run, and beside it its page and its card
    datasheet.schema.json    the schema of the record
    judge.json               prompts, settings and parser of the judge, without the address of its server
    stimuli.json             the id of every test case, and the recipe of built-in ones
    prompts.jsonl            every question as it was sent
    redacted-prompts.jsonl   the same with every text that was judged replaced by its digest
    judgments.parquet        one row for each call, without texts: the measures follow from it
    NAME.claim.json          a claim that rests on the record, and its card
    LICENSES.md              how the texts may be used

The folder is flat, and every name is one of these. What a package shows is checked by `package_checks.py`.
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from umpirical.claims.documents import read_claim, sha256
from umpirical.claims.statement import read_judge
from umpirical.domain.digests import Json, canonical_json
from umpirical.domain.errors import UsageError
from umpirical.domain.long_work import counted
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.trials import Presented, Trial
from umpirical.judges.factory import build_renderer
from umpirical.judges.judge import Judge
from umpirical.judges.spec import JudgeSpec
from umpirical.protocols.catalogue import PROTOCOLS, ReadRecord, protocol_of_run
from umpirical.protocols.protocol import MakesAgain, Protocol, write_documents
from umpirical.reports.pages import plain
from umpirical.reports.record import Strict, record_json, redacted
from umpirical.runs.plan import shown
from umpirical.runs.run import Run, open_run
from umpirical.store.files import drafted_folder, publish_folder, write_text
from umpirical.store.manifests import file_sha256
from umpirical.store.schemas import factor_row
from umpirical.study.results import finished_run, study_of_run
from umpirical.text.inert import one_line
from umpirical.text.quoted import text_digest

FORMAT: Literal["judge-package/1"] = "judge-package/1"

MANIFEST, JUDGE, STIMULI, PROMPTS = "manifest.json", "judge.json", "stimuli.json", "prompts.jsonl"
REDACTED, JUDGMENTS, LICENSES = "redacted-prompts.jsonl", "judgments.parquet", "LICENSES.md"

PLACES: Mapping[str, Any] = {"base_url": True, "api_key_env": True, "headers": True, "model_args": True, "price": True}
"""Settings that say how to reach a model. They decide no question, and stay with the author."""

REMOVED = "https://removed.invalid"
"""Stands for the address of a server where a spec needs one."""

UNKNOWN = "unknown: the package does not state it. Ask the author before you use these texts"


class FileRecord(Strict):
    """A file of a package, by its content."""

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    bytes: int = Field(ge=0)


class Package(Strict):
    """The manifest of a package."""

    format: Literal["judge-package/1"] = FORMAT
    umpirical_version: str
    protocol: str
    run: str
    judge: str
    built_in: bool = Field(description="Whether all test cases are built in, so that they can be made again.")
    texts: Literal["included", "digests"] = Field(description="Whether the texts that were judged are included.")
    licenses: dict[str, str] = Field(description="How each kind of text may be used.")
    files: dict[str, FileRecord]


class StimuliFile(Strict):
    """The test cases by their ids, which are digests of their content."""

    digest: str
    recipe: dict[str, Any] | None = Field(
        description="Settings that built-in test cases follow from; null for your own data."
    )
    ids: list[str]


class Question(Strict):
    """One question as it was sent. Its id is the digest of the request."""

    id: str
    request: dict[str, Any]


class RedactedQuestion(Question):
    """The same, rendered from digests in place of the texts that were judged."""

    stimulus: str
    presentation: dict[str, Any]
    shown: dict[str, Any]


def documents_of(protocol: str) -> tuple[str, str, str, str]:
    """Returns the names of the record, its page, its card and its schema."""
    return f"{protocol}.json", f"{protocol}.html", f"{protocol}.md", f"{protocol}.schema.json"


@dataclass(frozen=True)
class Release:
    """The parts of a run to publish. Nothing is written until a person has read the list."""

    found: ReadRecord
    run: Run
    texts: bool
    """Whether the texts that were judged are published."""
    judgments: bool
    claims: tuple[Path, ...]
    license: str

    @property
    def protocol(self) -> Protocol[Any, Any]:
        return self.found.protocol

    @cached_property
    def recipe(self) -> Mapping[str, Json] | None:
        return self.protocol.recipe(self.run) if isinstance(self.protocol, MakesAgain) else None

    @property
    def renderer(self) -> Judge | None:
        return build_renderer(self.run.judge)

    def lines(self) -> Iterator[str]:
        """Yields which texts are going to be published, and which are not."""
        texts = "the built-in test cases" if self.recipe is not None else "your own data"
        record = self.found.file.name
        if self.texts:
            yield f"published: the texts of {texts}, in {PROMPTS if self.renderer else record} and in {record}"
            yield f"published: the judge's replies quoted in {record}"
        else:
            yield f"replaced by digests: every text of {texts}, and the judge's replies quoted in {record}"
        yield "published as they are: the judge's prompts and rubric, and the names of judge, items, labels and groups"
        judge = one_line(self.found.record.judge.model)
        yield f"published as it is: the judge, {judge}, and the command that made the run"
        rows = f"{JUDGMENTS}: the verdict of each of {self.run.trials:,} calls, without texts"
        yield f"published: {rows}" if self.judgments else f"not published: {rows} (add --with-judgments)"
        own = "the judge's code, and the prompts that it builds"
        server = "the address of its server, the name of its API key"
        yield f"not published: the judge's full replies, {own if self.renderer is None else server}"
        yield from (f"published: {path.name}, a claim that rests on this record" for path in self.claims)

    def write(self, folder: Path) -> list[Path]:
        """Writes the package, all of it or nothing, and returns its files."""
        with drafted_folder(folder.resolve().parent) as draft:
            draft.mkdir()
            self._fill(draft)
            files = {path.name: FileRecord(sha256=file_sha256(path), bytes=path.stat().st_size) for path in _in(draft)}
            write_text(draft / MANIFEST, record_json(self._manifest(files)))
            publish_folder(draft, folder.resolve())
        return [folder / path.name for path in _in(folder)]

    def _manifest(self, files: dict[str, FileRecord]) -> Package:
        record = self.found.record
        return Package(
            umpirical_version=version("umpirical"),
            protocol=self.protocol.name,
            run=record.run.id,
            judge=record.judge.name,
            built_in=self.recipe is not None,
            texts="included" if self.texts else "digests",
            licenses=self._licenses(),
            files=files,
        )

    def _licenses(self) -> dict[str, str]:
        own = self.license or UNKNOWN
        return {
            "test cases": "MIT, as a part of Umpirical" if self.recipe is not None else own,
            "prompts": f"those built into Umpirical: MIT. Others: {own}",
            "the judge's replies": "see the terms of the model's provider",
            "record, judgments and digests": own,
        }

    def _fill(self, draft: Path) -> None:
        protocol, record = self.protocol, self.found.record
        if not self.texts:
            record = redacted(record)
        text = self.found.text if self.texts else protocol.render(record)
        write_documents(draft, protocol.name, text, protocol.page(record), protocol.card(record))
        write_text(draft / documents_of(protocol.name)[-1], protocol.schema())
        if (spec := published_spec(self.run.judge)) is not None:
            write_text(draft / JUDGE, json.dumps(spec, indent=1, ensure_ascii=False) + "\n")
        ids = [stimulus.id for stimulus in self.run.stimuli]
        recipe = None if self.recipe is None else dict(self.recipe)
        write_text(draft / STIMULI, record_json(StimuliFile(digest=self.run.stimuli.digest, recipe=recipe, ids=ids)))
        if self.renderer is not None:
            self._write_prompts(draft, self.renderer)
        if self.judgments:
            shutil.copyfile(self.run.folder / JUDGMENTS, draft / JUDGMENTS)
        for path in self.claims:
            for part in (path, path.with_suffix(".md")):
                if part.is_file():
                    shutil.copyfile(part, draft / part.name)
        write_text(draft / LICENSES, licenses_text(self._licenses()))

    def _write_prompts(self, draft: Path, judge: Judge) -> None:
        with (
            (draft / REDACTED).open("w", encoding="utf-8") as without,
            (draft / PROMPTS).open("w", encoding="utf-8", errors="backslashreplace") as whole,
        ):
            for trial, stimulus in counted(_questions(self.run), "prompts written"):
                print(record_line(redacted_question(judge, trial, stimulus)), file=without)
                seen = shown(stimulus, trial.presentation.order, judge.kind, judge.columns)
                print(record_line(_question(judge, trial, seen)), file=whole)
        if not self.texts:
            (draft / PROMPTS).unlink()


def prepare(
    folder: Path,
    *,
    texts: bool | None = None,
    judgments: bool = False,
    claim: Path | None = None,
    license: str = "",  # noqa: A002
) -> Release:
    """Reads a finished run, and checks it as `verify` does. By default, texts of your own data are not published.

    Raises StoreError if the run is damaged, or its record does not follow from its responses.
    """
    run = open_run(folder)
    protocol = protocol_of_run(run.store)
    if not (folder / f"{protocol.name}.json").is_file():
        finished_run(folder)
    found = read_judge(folder).found
    release = Release(found, run, texts=True, judgments=True, claims=(), license=license)
    built_in = release.recipe is not None
    texts = built_in if texts is None else texts
    claims = [claim] if claim else sorted({*folder.glob("*.claim.json"), *study_of_run(folder).glob("*.claim.json")})
    resting = [path for path in claims if sha256(found.text) in _rests_on(path)]
    if claim and not resting:
        raise UsageError(f"{claim.name} is about another record", fix="name a claim that was made with this run")
    if claim and not texts:
        raise UsageError(
            f"{claim.name} has the digest of the record with its texts, which would be removed",
            fix="add --with-texts, or publish the run without the claim",
        )
    kept = tuple(resting) if texts else ()
    return Release(found, run, texts=texts, judgments=judgments or built_in, claims=kept, license=license)


def _rests_on(path: Path) -> tuple[str, str]:
    claim = read_claim(path)
    return claim.datasheet.sha256, claim.evidence_file.sha256


def new_folder(folder: Path) -> None:
    """Raises unless a package can be written to a folder."""
    if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
        raise UsageError(f"{folder} is not empty", fix="name a new folder")


def published_spec(spec: JudgeSpec) -> dict[str, Any] | None:
    """Returns a judge as a package has it; None for one whose spec is a command or an address."""
    if spec.model is None and spec.callable is None:
        return None
    found: dict[str, Any] = spec.model_dump(mode="json", exclude={"model": PLACES}, exclude_defaults=True)
    if spec.model is not None and spec.model.base_url is not None:
        found["model"]["base_url"] = REMOVED
    return found


def licenses_text(licenses: Mapping[str, str]) -> str:
    rows = "\n".join(f"| {plain(name)} | {plain(said)} |" for name, said in licenses.items())
    return f"# How these texts may be used\n\n| what | license |\n| --- | --- |\n{rows}\n"


def record_line(record: Strict) -> str:
    return canonical_json(record.model_dump(mode="json"))


def redacted_question(judge: Judge, trial: Trial, stimulus: Stimulus) -> RedactedQuestion:
    """Returns a question with digests in place of the texts that were judged. The template stays as it is."""
    seen = shown(stimulus, trial.presentation.order, judge.kind, judge.columns)
    hidden = Presented(
        text_digest(seen.task),
        text_digest(seen.first),
        None if seen.second is None else text_digest(seen.second),
        {name: text_digest(text) for name, text in seen.columns.items()},
    )
    question = _question(judge, trial, hidden)
    return RedactedQuestion(
        **dict(question),
        stimulus=stimulus.id,
        presentation=dict(factor_row(trial.presentation)),
        shown=asdict(hidden),
    )


def _question(judge: Judge, trial: Trial, seen: Presented) -> Question:
    payload: Any = judge.request(seen, trial.presentation).payload()
    return Question(id=trial.prompt_id, request=payload)


def _questions(run: Run) -> Iterator[tuple[Trial, Stimulus]]:
    """Yields one trial of each question, in the order of the plan."""
    asked = set[str]()
    for shard in range(run.shards):
        for trial, part in run.store.plan_shard(shard):
            if trial.prompt_id not in asked:
                asked.add(trial.prompt_id)
                yield trial, run.stimuli.part(part)[trial.stimulus_id]


def _in(folder: Path) -> Sequence[Path]:
    return sorted(folder.iterdir(), key=lambda path: path.name)


def is_package(folder: Path) -> bool:
    """Whether a folder is a package, or was one: it has no run and no study, but a file that only packages have."""
    if not folder.is_dir() or any((folder / name).exists() for name in ("run.json", "runs", "umpirical.yaml")):
        return False
    marks = (MANIFEST, STIMULI, REDACTED, LICENSES, *(f"{name}.schema.json" for name in PROTOCOLS.names()))
    return any((folder / name).exists() or (folder / name).is_symlink() for name in marks)


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def is_known(name: str, protocol: str) -> bool:
    """Whether a package of a protocol may have a file of this name."""
    fixed = {JUDGE, STIMULI, PROMPTS, REDACTED, JUDGMENTS, LICENSES, *documents_of(protocol)}
    claim = _NAME.fullmatch(name) and name.endswith((".claim.json", ".claim.md"))
    return name in fixed or bool(claim)
