"""Words and patterns that nobody would say, searched for in everything a user reads.

    python -m tests.english.plain                all of it: README, docs, templates, messages and help
    python -m tests.english.plain docs/index.md  only these files

The vocabulary is in docs/reference/glossary.md. `plain_allowed.yaml` lists the exceptions, each with its reason.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from umpirical.store.yaml_files import load_yaml

ROOT = Path(__file__).resolve().parents[2]

PATTERNS = {
    # Vocabulary: the old word, and what to write
    r"\bslots?\b": "position",
    r"\bquads?\b": "crossed pair",
    r"\barms?\b": "prompt variant",
    r"\breadouts?\b": "scoring method",
    r"\bcarriers?\b": "your own answers",
    r"(?<!\()\bdark current\b(?!\)| paper)": "blank-input preference",
    r"\braw false preference\b": "false preference",
    r"\bpositional false preference\b": "position bias",
    r"\bstable cross-sensitivity\b": "wording bias",
    r"\bconflict excess\b": "length-conflict error",
    r"\btarget sensitivity\b": "accuracy at an n-requirement difference",
    r"\bvacuum\b": "blank",
    r"\brehears(?:al|e|ed|als)\b": "dry run",
    r"\bplanted\b": "true value, known defect",
    r"\buse with limits\b": "use with restrictions",
    r"\bleft out\b": "excluded",
    r"\bbooked\b": "reserved, spent",
    # Calques
    r"\b(?:hold|holds|held|holding)\b[^.\n]{0,60}\b(?:to|against)\b": "check, compare",
    r"\bsettl(?:e|es|ed|ing)\b": "decide, confirm",
    r"\btold apart\b|\btell\b[^.\n]{0,30}\bapart\b": "distinguish",
    r"\bsway(?:s|ed|ing)?\b": "bias, influence",
    r"\bamid\b|\bamiss\b|\blesser\b|\blikewise\b": "a plain word",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\bmakes? up for\b": "compensate",
    r"\bnobody\b": "name the actor",
    r"\bstands? (?:for|as|in|on|beside|under|above|last|first)\b": "is, appears",
    # Grammar
    r"(?<!there )\b(?:is|are|was|were) no (?!(?:longer|more than|less than|fewer than|worse|better)\b)": "is not a",
    r"(?:^|[.!?:] )(?:What (?!to\b)|Whatever |Whoever )(?![^.]*\?)": "no clause as a subject",
    r"\b(?:judges|logs) of (?:agents|Inspect)\b|\bof (?:one's own|yours|Inspect's|GitHub's)|\bJUnit's\b": "noun + noun",
    r"\bas it (?:lies|stands)\b|\bof which one is\b": "a plain word",
    r", too\b": "also, or nothing",
    r"\bsays how\b|\bsays what\b|\bagrees to\b|\bbrings one\b": "do X to get Y",
    # Numbers
    r"\d %": "no space before %",
    r"(?<![\w.])\.\d": "a percentage, or 0 before the point",
    # Spelling
    r"\b\w*(?:favour|behaviour|colour|neighbour|labell|modell|cancell(?!ation)|travell)\w*": "American spelling",
    r"\b(?:licence|catalogue|analyse|grey|artefact|judgement|programme|centre)(?:s|d)?\b": "American spelling",
    r"\b(?:organi|normali|minimi|maximi|speciali|emphasi|optimi|anonymi|randomi)s(?:e|ed|es|ing|ation)\b": "-ize",
    r"\b(?:recogni|summari|generali|standardi|seriali)s(?:e|ed|es|ing|ation)\b": "-ize",
}
"""What to search for, and what to write in its place."""

_COMPILED = {re.compile(pattern, re.IGNORECASE | re.MULTILINE): advice for pattern, advice in PATTERNS.items()}

NOT_PROSE = re.compile(
    r"^(?:```|~~~).*?^(?:```|~~~)$|<!--.*?-->|\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}"
    r"|`[^`\n]+`|(?<=\])\([^)\s]*\)|<[^>\n]+>|https?://\S+",
    re.DOTALL | re.MULTILINE,
)


class Hit(NamedTuple):
    """A passage that nobody would say."""

    where: str
    line: int
    found: str
    advice: str

    def __str__(self) -> str:
        return f"{self.where}:{self.line}: {self.found!r}: {self.advice}"


class Passage(NamedTuple):
    """Text that a user reads."""

    where: str
    line: int
    text: str


def hits(passages: Iterable[Passage]) -> list[Hit]:
    """Every passage that a pattern finds and no exception allows."""
    return [hit for passage in passages for hit in _found(passage) if not _is_allowed(hit)]


def _found(passage: Passage) -> Iterator[Hit]:
    prose = NOT_PROSE.sub(lambda part: "\n" * part[0].count("\n") or "X", passage.text)
    for pattern, advice in _COMPILED.items():
        for match in pattern.finditer(prose):
            line = passage.line + prose.count("\n", 0, match.start())
            yield Hit(passage.where, line, " ".join(match[0].split()), advice)


@cache
def exceptions() -> list[dict[str, str]]:
    """What may be said after all: a part of the path, the words found, and the reason."""
    found: list[dict[str, str]] = load_yaml(Path(__file__).with_name("plain_allowed.yaml")).data["allowed"]
    return found


def _is_allowed(hit: Hit) -> bool:
    return any(allows(one, hit) for one in exceptions())


def allows(exception: dict[str, str], hit: Hit) -> bool:
    where, found = re.search(exception["path"], hit.where), re.search(exception["found"], hit.found, re.IGNORECASE)
    return bool(where and found)


def passages(paths: Iterable[Path]) -> Iterator[Passage]:
    for path in paths:
        where = path.resolve().relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".py":
            yield from (Passage(where, line, words) for line, words in _strings(ast.parse(text)))
        elif "docs/decisions/0" in where:
            # A decision is a document of its day: its title and first paragraph are rewritten, the rest is kept.
            yield Passage(where, 1, "\n\n".join(text.split("\n\n")[:2]))
        else:
            yield Passage(where, 1, text)


def _strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """String constants of three words and more: messages and help. Docstrings are a developer's."""
    documented = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (documented | inside):
            text = node.value
        else:
            continue
        if len(text.split()) > 2:
            yield node.lineno, text


def read_by_users() -> list[Path]:
    """Every file with text that a user reads, texts of the stimuli and records apart."""
    source = ROOT / "src" / "umpirical"
    return [
        ROOT / "README.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "docs").rglob("*.jinja")),
        *sorted((ROOT / "examples").rglob("README.md")),
        *sorted(source.rglob("*.jinja")),
        *sorted(source.rglob("*.py")),
    ]


if __name__ == "__main__":
    given = [Path(name) for name in sys.argv[1:]]
    found = hits(passages(given or read_by_users()))
    sys.stdout.writelines(f"{hit}\n" for hit in found)
    sys.stdout.write(f"{len(found)} found\n")
    raise SystemExit(bool(found))
