"""Measures what an install takes: builds the wheel, installs it with pip into an empty environment, and looks.

python supply/install.py            prints the table of docs/reference/environment.md
python supply/install.py --write    writes it there
"""

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from venv import create

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "environment.md"
MARK = "<!-- measured by supply/install.py -->\n"

NEEDED_FOR = {
    "pyarrow": "plans, stimuli, responses and judgments as Parquet",
    "scipy": "quantiles, special functions, optimisation",
    "duckdb": "counting judgments in bounded memory",
    "numpy": "arrays of counts",
    "uvloop": "the event loop: a fifth less CPU a call",
    "rapidfuzz": "word diffs in checks and reports",
    "umpirical": "itself",
}
"""What each of the largest is for; all of them are on the way from a judge to its datasheet."""

TIMED = {
    "`import umpirical`": "import umpirical",
    "`umpirical --help`": "import click; from umpirical.cli import cli; cli.get_help(click.Context(cli))",
    "`umpirical.datasheet`, before its first call": "import umpirical; umpirical.datasheet",
    "`import scipy.optimize`, to compare with": "import scipy.optimize",
}


def table(python: Path) -> str:
    """The rows for sizes and for imports, as they are in that environment."""
    found = sizes(python)
    whole = sum(found.values())
    rows = [f"| {name} | {found[name]:.0f} | {found[name] / whole:.0%} | {why} |" for name, why in NEEDED_FOR.items()]
    rest = whole - sum(found[name] for name in NEEDED_FOR)
    rows.append(f"| {len(found) - len(NEEDED_FOR)} others | {rest:.0f} | {rest / whole:.0%} | |")
    rows.append(f"| **all** | **{whole:.0f}** | | |")
    bare = cpu(python, "pass")
    times = [f"| {what} | {cpu(python, code) - bare:.2f} |" for what, code in TIMED.items()]
    return "\n".join(
        [
            "\n| package | MB | share | what it is for |\n| --- | ---: | ---: | --- |",
            *rows,
            "\n| import | seconds of CPU, beyond Python's own start |\n| --- | ---: |",
            *times,
            "",
        ]
    )


def sizes(python: Path) -> dict[str, float]:
    """Megabytes of each distribution, compiled files and bundled libraries among them."""
    code = (
        "from importlib.metadata import distributions\n"
        "for one in distributions():\n"
        "    files = [each.locate() for each in one.files or []]\n"
        "    print(one.metadata['Name'].lower(), sum(each.stat().st_size for each in files if each.exists()))\n"
    )
    lines = _run([python, "-c", code]).split("\n")
    return {name: int(size) / 1e6 for name, size in (line.split() for line in lines if line)}


def cpu(python: Path, code: str) -> float:
    """Seconds of CPU of a process that runs that code: the least of five, since a busy machine only ever adds."""
    timed = (
        "import resource, sys; used = resource.getrusage(resource.RUSAGE_SELF); print(used.ru_utime + used.ru_stime)"
    )
    return min(float(_run([python, "-c", f"{code}\n{timed}"])) for _ in range(5))


def _run(command: list[str | Path]) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout  # noqa: S603  # our own


def main(arguments: list[str]) -> int:
    """Builds, installs, measures, and prints or writes the tables."""
    with TemporaryDirectory() as folder:
        _run(["uv", "build", "--quiet", "--wheel", "--out-dir", folder])
        (wheel,) = Path(folder).glob("*.whl")
        create(Path(folder) / "venv", with_pip=True)
        python = Path(folder) / "venv" / "bin" / "python"
        _run([python, "-m", "pip", "install", "--quiet", wheel])
        _run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "pip", "setuptools"])
        measured = table(python)
    if arguments == ["--write"]:
        text = PAGE.read_text(encoding="utf-8")
        pattern = re.compile(re.escape(MARK) + r".*?(?=\n## )", re.DOTALL)
        PAGE.write_text(pattern.sub(lambda _: MARK + measured, text), encoding="utf-8")
    else:
        sys.stdout.write(measured)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
