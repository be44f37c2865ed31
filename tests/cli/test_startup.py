"""Help is instant, and nothing heavy is imported for it."""

import resource
import subprocess
import sys

import pytest

HEAVY = [
    "numpy",
    "scipy",
    "pyarrow",
    "duckdb",
    "aiohttp",
    "pydantic",
    "jinja2",
    "yaml",
    "stamina",
    "genai_prices",
    "rich",
    "sqlalchemy",
    "alembic",
    "starlette",
    "uvicorn",
    "openai",
    "inspect_ai",
]


def cpu_seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["--version"]], ids=" ".join)
def test_help_takes_at_most_twice_the_cpu_of_importing_click(arguments):
    # Side by side, since machines differ; the best of many, because a busy machine only ever adds.
    times: list[tuple[float, float]] = []
    for _ in range(25):
        times.append((cpu_seconds(["-m", "umpirical", *arguments]), cpu_seconds(["-c", "import click"])))
        help_time, click_time = (min(column) for column in zip(*times, strict=True))
        if len(times) >= 5 and help_time <= 2 * click_time:
            return
    pytest.fail(f"{help_time:.3f} s of CPU, where importing click takes {click_time:.3f}")


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["demo", "--help"]], ids=" ".join)
def test_help_imports_nothing_heavy(arguments):
    code = (
        "import sys\nfrom umpirical.cli import main\n"
        f"try: main({arguments!r})\nexcept SystemExit: pass\n"
        f"print('IMPORTED', sorted(set({HEAVY!r}) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "IMPORTED []" in done.stdout
