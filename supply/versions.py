"""Counts the measures with other versions of what we depend on, each in an environment that is thrown away.

`lowest` takes the oldest version that pyproject.toml allows of every direct dependency, `highest` the newest. The
golden values and the parity of whole studies must come out the same. Run by `just versions`.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]

RESOLUTIONS = {"lowest": "lowest-direct", "highest": "highest"}

TOOLS = ["pytest>=8.4", "pytest-asyncio>=1.0", "hypothesis>=6.130"]
"""What the tests need besides; it is installed afterwards, and changes nothing that is there."""

SHOWN = ("duckdb", "numpy", "scipy", "pyarrow", "rapidfuzz", "pydantic")


def counted(which: str, tests: list[str]) -> int:
    """Runs the tests with one set of versions. Returns pytest's exit code."""
    with TemporaryDirectory(prefix="umpirical-versions-") as folder:
        python = str(Path(folder) / "bin" / "python")
        # The oldest Python we support is the one for which the oldest versions are built.
        _uv("venv", "--quiet", "--python", "3.11", folder)
        # Not compiled: one process imports it, and only a part of it.
        install = ("pip", "install", "--quiet", "--python", python)
        _uv(*install, "--resolution", RESOLUTIONS[which], f"{ROOT}[review]")
        _uv(*install, *TOOLS)
        named = "import importlib.metadata as m, sys; print(*(f'{n} {m.version(n)}' for n in sys.argv[1:]), sep=', ')"
        found = subprocess.run([python, "-c", named, *SHOWN], check=True, capture_output=True, text=True).stdout  # noqa: S603
        sys.stdout.write(f"{which}: {found}")
        sys.stdout.flush()
        # The installed package, not the source beside the tests, so that its own metadata is found too.
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode  # noqa: S603


def _uv(*arguments: str) -> None:
    subprocess.run(["uv", *arguments], cwd=ROOT, check=True)  # noqa: S603, S607


if __name__ == "__main__":
    sets, paths = [each for each in sys.argv[1:] if each in RESOLUTIONS], [each for each in sys.argv[1:] if "/" in each]
    sys.exit(max(counted(each, paths or ["tests/golden", "tests/parity"]) for each in sets or list(RESOLUTIONS)))
