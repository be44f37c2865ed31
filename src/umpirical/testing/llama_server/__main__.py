"""The server process: loads one model, prints its address, and serves until it is told to stop."""

import argparse
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from umpirical.domain.errors import UsageError
from umpirical.testing.bench_models import model_file
from umpirical.testing.llama_server.server import LISTENING, need_server


def main(arguments: list[str] | None = None) -> int:
    """Serves until SIGTERM or an interrupt; returns 2 if something is not installed, 1 if the server cannot start."""
    options = _options(arguments)
    if options.with_parent:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        need_server()
        # It serves in threads of its own, until nothing refers to it.
        server = _start(model_file(options.model), options)
    except UsageError as error:
        print(f"{error}\n  {error.fix}", file=sys.stderr)  # noqa: T201  # a program of its own
        return 2
    except RuntimeError as error:
        # llama.cpp has already printed the details.
        print(error, file=sys.stderr)  # noqa: T201  # a program of its own
        return 1
    try:
        # Inside the try: a reader of the line may interrupt before this thread runs again.
        print(f"{LISTENING}{server.listening_address}/v1", flush=True)  # noqa: T201  # a program of its own
        while True:
            signal.pause()
    except KeyboardInterrupt:
        return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m umpirical.testing.llama_server", description=__doc__)
    parser.add_argument("model", help="smollm2, if its package is installed, or a GGUF file")
    parser.add_argument("--port", type=int, default=8080, help="0 takes a free port (default: 8080)")
    parser.add_argument("--slots", type=int, default=1, help="answers at a time (default: 1)")
    parser.add_argument("--context", type=int, default=4096, help="tokens of one prompt and its answer (default: 4096)")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="default: one for each processor")
    parser.add_argument("--no-cache", action="store_true", help="process every prompt from the start")
    parser.add_argument("--with-parent", action="store_true", help="end when standard input is closed")
    return parser.parse_args(arguments)


def _start(model: Path, options: argparse.Namespace) -> Any:  # noqa: ANN401  # its package has no types
    # Threads that spin while they wait would take the processor from everything else on the machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    # What it says about itself: the file's name, and not its path on this machine.
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
    return xllamacpp.Server(parameters)


def _end_with_parent() -> None:
    """Stops when standard input is closed: the parent process holds its other end, and would have to stop this one."""
    # Uses the descriptor: a thread that waits in sys.stdin disturbs the interpreter's shutdown.
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
