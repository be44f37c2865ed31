"""Runs Inspect's command line with the package's entry points as pyproject.toml has them, installed or not."""

import gc
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from warnings import catch_warnings, simplefilter

import pytest
from inspect_ai.log import EvalLog

import umpirical

PACKAGE = Path(umpirical.__file__).parent
KEY = "sk-loopback-not-a-secret"
"""What the server on loopback is sent as a key."""

ROOT = Path(__file__).parents[3]


def installed(folder: Path) -> Path:
    """Installs the package as it is here: its code, and the metadata that pyproject.toml gives it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    site = folder / "site-packages"
    metadata = site / f"umpirical-{umpirical.__version__}.dist-info"
    metadata.mkdir(parents=True)
    (site / "umpirical").symlink_to(PACKAGE)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: umpirical\nVersion: {umpirical.__version__}\n")
    with (metadata / "entry_points.txt").open("w") as file:
        for group, points in project["entry-points"].items():
            file.write(f"[{group}]\n" + "".join(f"{name} = {found}\n" for name, found in points.items()))
    return site


def inspect_eval(
    folder: Path, task: str, *options: str, base_url: str, model: str = "swayed", expect: int | None = 0
) -> str:
    """Runs `inspect eval` in a folder; returns what it printed."""
    command = ["-m", "inspect_ai", "eval", task, "--model", f"openai-api/local/{model}"]
    command += ["--log-dir", str(folder / "logs"), "--display", "plain", "--no-log-realtime", *options]
    return _run(command, folder, base_url, expect)


def inspect_retry(folder: Path, log: Path, *, base_url: str) -> str:
    """Runs `inspect eval-retry` on a log; returns what it printed."""
    command = ["-m", "inspect_ai", "eval-retry", str(log), "--log-dir", str(folder / "logs"), "--display", "plain"]
    return _run(command, folder, base_url, 0)


def inspect_here(
    folder: Path, task: str, *, base_url: str, parameters: dict[str, object], **options: object
) -> list[EvalLog]:
    """Evaluates in this process, in a folder, as Inspect's Python function does; for what is not about the process."""
    from inspect_ai import eval as evaluate

    with chdir(folder), pytest.MonkeyPatch.context() as patch, catch_warnings():
        # Inspect leaves streams to the garbage collector, which complains of them, also in tests that come later.
        simplefilter("ignore")
        for name, value in {"LOCAL_API_KEY": KEY, "LOCAL_BASE_URL": base_url}.items():
            patch.setenv(name, value)
        try:
            return evaluate(
                task,
                model="openai-api/local/swayed",
                model_base_url=base_url,
                task_args=parameters,
                log_dir=str(folder / "logs"),
                display="none",
                log_realtime=False,
                **options,
            )
        finally:
            gc.collect()


@contextmanager
def inspect_evaluating(folder: Path, task: str, *options: str, base_url: str) -> Iterator[subprocess.Popen[bytes]]:
    """Starts `inspect eval` in a folder, and kills it in the end."""
    if not (folder / "site-packages").exists():
        installed(folder)
    command = [sys.executable, "-m", "inspect_ai", "eval", task, "--model", "openai-api/local/swayed"]
    command += ["--log-dir", str(folder / "logs"), "--display", "none", *options]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=_environment(folder, base_url),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def umpirical_run(folder: Path, *, base_url: str, expect: int) -> str:
    """Runs `umpirical run` on the study in a folder; returns what it printed."""
    command = ["-m", "umpirical", "run", ".", "--yes", "--no-preflight", "--trust"]
    return _run(command, folder, base_url, expect)


def _run(arguments: list[str], folder: Path, base_url: str, expect: int | None) -> str:
    site = folder / "site-packages"
    if not site.exists():
        installed(folder)
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=_environment(folder, base_url),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    said = done.stdout + done.stderr
    assert expect is None or done.returncode == expect, said
    return said


def _environment(folder: Path, base_url: str) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(folder / "site-packages"),
        "LOCAL_API_KEY": KEY,
        "LOCAL_BASE_URL": base_url,
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_STATE_HOME": str(folder / "state"),
    }


def only_log(folder: Path) -> Path:
    [log] = (folder / "logs").glob("*.eval")
    return log
