"""Checkers of the texts of stimuli: Harper for English grammar, hunspell for the spelling of every language."""

import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.english.family_texts import Text
from umpirical.store.yaml_files import load_yaml

FOLDER = Path(__file__).parent

DICTIONARIES = {"en": "en_GB", "de": "de_DE", "es": "es_ES"}
"""Of hunspell, by language."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What Harper takes for a mistake."""

    task: str
    rule: str
    found: str
    says: str
    text: str


def missing() -> list[str]:
    """What is not installed of all that the checkers need."""
    wanted = {
        "nodejs": shutil.which("node") is not None,
        "harper.js (npm ci --prefix tests/english)": (FOLDER / "node_modules" / "harper.js").is_dir(),
        "hunspell": shutil.which("hunspell") is not None,
        **{f"hunspell's {name}": Path(f"/usr/share/hunspell/{name}.dic").is_file() for name in DICTIONARIES.values()},
    }
    return [name for name, found in wanted.items() if not found]


@cache
def allowed() -> Mapping[str, Any]:
    """Rules that are left out, findings that are none, and words that no dictionary has."""
    found: Mapping[str, Any] = load_yaml(FOLDER / "allowed.yaml").data
    return found


def grammar(texts: Sequence[Text]) -> list[Finding]:
    """What Harper finds in English texts, but for what is allowed."""
    texts = [text for text in texts if text.language == "en"]
    asked = json.dumps({"texts": [text.text for text in texts], "without": [*allowed()["rules"]]})
    heard = subprocess.run(["node", "harper.mjs"], cwd=FOLDER, input=asked, capture_output=True, text=True, check=True)
    return [
        Finding(text.task, one["rule"], one["found"], one["says"], text.text)
        for text, findings in zip(texts, json.loads(heard.stdout), strict=True)
        for one in findings
        if not _is_right(one["rule"], text.text)
    ]


def spelling(words: Iterable[str], language: str) -> list[str]:
    """The words that hunspell does not know, but for those that are allowed."""
    unknown = subprocess.run(
        ["hunspell", "-d", DICTIONARIES[language], "-i", "utf-8", "-l"],
        input="\n".join(sorted(words)),
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    known = {word for group in allowed()["words"].get(language, ()) for word in group["words"]}
    return sorted(set(unknown) - known)


def _is_right(rule: str, text: str) -> bool:
    return any(one["rule"] == rule and one["in"] in text for one in allowed()["findings"])
