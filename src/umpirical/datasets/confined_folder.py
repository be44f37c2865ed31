"""The files of a dataset folder that came from somewhere: which are read, and that none of them is elsewhere.

Hugging Face's library follows what the files of a folder say: a `data_files` with an absolute path or a URL in its
README, a `filename` in its `state.json`, a link. So it is never given such a file: what is to be read is worked out
here, and the library gets a list of files.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from umpirical.domain.errors import ConfigError
from umpirical.store.yaml_files import parse_yaml
from umpirical.text.json_texts import texts_in

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".txt": "text",
}
"""Endings of files that are read, and what reads them. Others may run code, or fetch what they name."""

PACKED = (
    b"\x1f\x8b",
    b"PK\x03\x04",
    b"BZh",
    b"\xfd7zXZ",
    b"\x28\xb5\x2f\xfd",
    b"\x04\x22\x4d\x18",
    b"7z\xbc\xaf",
    b"Rar!",
)
"""How compressed files begin: the library would unpack them, whatever their name and however much is in them."""

LARGEST_CARD = 1_000_000
"""Bytes of a README."""


def check_links(folder: Path) -> int:
    """Returns the size of all files in a folder. Raises if one of them is a link to elsewhere."""
    root, size = folder.resolve(), 0
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            if not path.resolve().is_relative_to(root):
                raise ConfigError(
                    f"{path.relative_to(folder)} is a link to a file outside the folder",
                    where=folder.name,
                    fix="copy the file into the folder",
                )
            size += path.stat().st_size if path.is_file() else 0
    return size


def check_saved(folder: Path) -> None:
    """Raises unless everything that a saved dataset names is in its folder."""
    for split in _splits(folder):
        state = folder / split / "state.json"
        only_inside(folder, [f"{split}/{name}" for name in _file_names(_json(state))])


def _splits(folder: Path) -> list[str]:
    """Returns the folders of a saved dataset: itself, or one for each split."""
    if (folder / "dataset_info.json").is_file():
        return ["."]
    named = _json(folder / "dataset_dict.json")
    splits = [str(name) for name in named.get("splits", [])] if isinstance(named, dict) else []
    only_inside(folder, splits)
    return splits


def _file_names(node: Any) -> Iterator[str]:  # noqa: ANN401  # foreign JSON
    if isinstance(node, dict):
        yield from (str(value) for key, value in node.items() if key == "filename")
        node = list(node.values())
    if isinstance(node, list):
        for inner in node:
            yield from _file_names(inner)


def _json(file: Path) -> Any:  # noqa: ANN401  # foreign JSON
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"cannot read {file.name}: {type(error).__name__}", where=file.parent.name) from None


def only_inside(folder: Path, names: list[str]) -> None:
    """Raises for a name that leads out of a folder, by a path or a URL."""
    for name in names:
        if "://" in name or "::" in name or not (folder / name).resolve().is_relative_to(folder.resolve()):
            raise ConfigError(
                f"it refers to {name}, which is outside the folder",
                where=folder.name,
                fix="copy the file into the folder and use its path relative to the folder",
            )


def declared_patterns(folder: Path, config: str | None) -> Any:  # noqa: ANN401  # as the library takes them
    """Returns the `data_files` that a folder's README declares for a configuration; None if it declares none."""
    if (folder / ".huggingface.yaml").exists():
        raise ConfigError(
            ".huggingface.yaml files are not supported", where=folder.name, fix="declare the configs in README.md"
        )
    configs = [each for each in _card(folder).get("configs") or [] if isinstance(each, Mapping)]
    chosen = [each for each in configs if config is None or str(each.get("config_name", "default")) == config]
    if config is not None and not chosen:
        known = ", ".join(str(each.get("config_name", "default")) for each in configs) or "none"
        raise ConfigError(f"unknown config_name {config!r}", where=folder.name, fix=f"choose one of: {known}")
    if config is None and len(chosen) > 1:
        chosen = [each for each in chosen if each.get("config_name") == "default" or each.get("default")] or chosen
    if not chosen:
        return None
    patterns = chosen[0].get("data_files") or (f"{chosen[0]['data_dir']}/**" if chosen[0].get("data_dir") else None)
    only_inside(folder, list(texts_in(patterns)))
    return patterns


def _card(folder: Path) -> Mapping[str, Any]:
    file = folder / "README.md"
    if not file.is_file():
        return {}
    if file.stat().st_size > LARGEST_CARD:
        raise ConfigError(
            f"README.md has more than {LARGEST_CARD:,} bytes", where=folder.name, fix="shorten the README"
        )
    lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    if lines[0].rstrip() != "---" or "---" not in (ends := [line.rstrip() for line in lines[1:]]):
        return {}
    head = "\n".join(lines[1 : 1 + ends.index("---")])
    return parse_yaml(head, name=f"{folder.name}/README.md").data if head.strip() else {}


def readable_files(folder: Path, found: Mapping[str, list[str]]) -> tuple[str, dict[str, list[str]]]:
    """Returns the format of files, and those of that format for each split, all of them checked.

    The format that most of them have is read, as the library does.
    """
    only_inside(folder, [name for files in found.values() for name in files])
    endings = Counter(FORMATS.get(Path(name).suffix.lower()) for files in found.values() for name in files)
    endings.pop(None, None)
    if not endings:
        raise ConfigError(
            "cannot load it: the folder has no readable data file",
            where=folder.name,
            fix=f"supported file endings: {', '.join(FORMATS)}",
        )
    form = max(endings, key=lambda each: endings[each])
    assert form is not None  # noqa: S101  # it was taken out
    chosen = {
        split: kept
        for split, files in found.items()
        if (kept := [name for name in files if FORMATS.get(Path(name).suffix.lower()) == form])
    }
    for name in (name for files in chosen.values() for name in files):
        with Path(name).open("rb") as handle:
            begins = handle.read(8)
        if begins.startswith(PACKED):
            raise ConfigError(f"{Path(name).name} is compressed", where=folder.name, fix="unpack it first")
    return form, chosen
