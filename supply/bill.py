"""Makes the bill of materials: every locked package with its digests and its licence, and refuses what is not accepted.

Written to a folder: `bill.cdx.json` in CycloneDX 1.5, as uv exports the lock file, with the licences added; and
`licences.md`, a table to read. Run by `just bill`.
"""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageMetadata, distributions
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

EXPORT = ["uv", "export", "--quiet", "--frozen", "--format", "cyclonedx1.5", "--all-extras", "--all-groups"]


def main(folder: Path) -> int:
    """Writes the bill into the folder; 1 if a package is missing in it, or has a licence that is not accepted."""
    rules = tomllib.loads((ROOT / "supply" / "licences.toml").read_text(encoding="utf-8"))
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    exported = json.loads(subprocess.run(EXPORT, cwd=ROOT, check=True, capture_output=True, text=True).stdout)  # noqa: S603
    installed = {key_of(one.metadata["Name"]): one.metadata for one in distributions()}
    made = bill(exported, installed, rules)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bill.cdx.json").write_text(json.dumps(made, indent=1), encoding="utf-8")
    (folder / "licences.md").write_text(_table(made), encoding="utf-8")
    locked = {(key_of(one["name"]), one["version"]) for one in lock["package"] if one["source"] != {"editable": "."}}
    found = problems(made, locked, installed, rules)
    for each in found:
        sys.stderr.write(f"{each}\n")
    sys.stdout.write(f"{len(made['components'])} packages in {folder / 'bill.cdx.json'}\n")
    return 1 if found else 0


def bill(
    exported: Mapping[str, Any], installed: Mapping[str, PackageMetadata], rules: Mapping[str, Any]
) -> dict[str, Any]:
    """The exported lock file with the licence of each package; without one where nothing says it."""
    components = []
    for one in exported["components"]:
        key = key_of(one["name"])
        licence = licence_in(installed[key], rules["words"]) if key in installed else ""
        licence = licence or rules["stated"].get(key, "")
        components.append(one | ({"licenses": [{"expression": licence}]} if licence else {}))
    return dict(exported) | {"components": components}


def licence_in(metadata: PackageMetadata, words: Mapping[str, str]) -> str:
    """The licence that a package states, as an SPDX expression; as it is written if we do not know the words."""
    if expression := metadata.get_all("License-Expression"):
        return str(expression[0])
    classifiers = [each for each in metadata.get_all("Classifier") or [] if each.startswith("License ::")]
    stated = [each.rpartition(" :: ")[2] for each in classifiers] or [_first_line(*metadata.get_all("License") or [""])]
    return " OR ".join(words.get(each, each) for each in stated if each)


def _first_line(licence: str) -> str:
    """Some packages state the whole text of their licence, which begins with its name."""
    return licence.strip().partition("\n")[0].strip()


def problems(
    made: Mapping[str, Any],
    locked: Iterable[tuple[str, str]],
    installed: Mapping[str, PackageMetadata],
    rules: Mapping[str, Any],
) -> list[str]:
    """What is wrong with the bill, one sentence each."""
    components = {(key_of(one["name"]), one["version"]): one for one in made["components"]}
    found = [
        f"{name} {version} is locked and not in the bill"
        for name, version in locked
        if (name, version) not in components
    ]
    for (name, version), one in sorted(components.items()):
        licence = one["licenses"][0]["expression"] if "licenses" in one else ""
        if not licence:
            found.append(f"{name} {version}: nothing says its licence; state it in supply/licences.toml")
        elif not _is_accepted(licence, rules["accepted"]) and rules["for_one"].get(name) != licence:
            found.append(f"{name} {version}: the licence {licence[:80]} is not accepted")
    names = {name for name, _ in components}
    for name, licence in rules["stated"].items():
        said = licence_in(installed[name], rules["words"]) if name in installed else ""
        if said not in ("", licence):
            found.append(f"{name}: supply/licences.toml says {licence}, and the package {said}")
        if name not in names:
            found.append(f"{name}: stated in supply/licences.toml, and not locked")
    return found


def _is_accepted(expression: str, accepted: Iterable[str]) -> bool:
    """Whether one of the alternatives of an SPDX expression asks for accepted licences alone."""
    alternatives = expression.replace("(", "").replace(")", "").split(" OR ")
    return any(all(each.strip() in accepted for each in one.split(" AND ")) for one in alternatives)


def _table(made: Mapping[str, Any]) -> str:
    rows = [
        f"| {one['name']} | {one['version']} | {one['licenses'][0]['expression'] if 'licenses' in one else ''} |"
        for one in made["components"]
    ]
    return "\n".join(
        ["# Licences of what is locked", "", "| package | version | licence |", "| --- | --- | --- |", *rows, ""]
    )


def key_of(name: str) -> str:
    """A package's name, however it is written."""
    return name.lower().replace("_", "-").replace(".", "-")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
