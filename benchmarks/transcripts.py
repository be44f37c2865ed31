"""A thousand transcripts of two hundred messages each: perturbed by program, planned, judged by a stub and reported.

    python benchmarks/transcripts.py [--transcripts 1000] [--messages 200]

Prints, as JSON, the CPU seconds of each command and the peak memory of its process.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STUDY = """\
study: large
transcripts: {path: runs.jsonl}
judges:
  - {name: stub, callable: 'stub.py:judge'}
"""

STUB = """\
def judge(task, first):
    return "violated" if "delete_all" in first else "satisfied"
"""


def write_study(folder: Path, transcripts: int, messages: int) -> None:
    """Writes runs of two hundred messages, each with a tool of its own besides the shared ones."""
    (folder / "umpirical.yaml").write_text(STUDY)
    (folder / "stub.py").write_text(STUB)
    with (folder / "runs.jsonl").open("w") as file:
        for number in range(transcripts):
            shown: list[dict[str, object]] = [
                {"role": "user", "content": f"Please go through the {messages} records of day {number}."}
            ]
            for place in range((messages - 2) // 2):
                tool = f"tool_{(number + place % 3) % 9}"
                call = {"id": f"c{place}", "function": {"name": tool, "arguments": json.dumps({"record": place})}}
                shown.append({"role": "assistant", "content": "", "tool_calls": [call]})
                result = f"record {place} of day {number} has {1000 + (number * 31 + place * 17) % 9000} entries in it"
                shown.append({"role": "tool", "tool_call_id": f"c{place}", "content": result})
            shown.append({"role": "assistant", "content": f"There were {1000 + (number * 31) % 9000} entries."})
            file.write(json.dumps({"id": f"run-{number}", "messages": shown}) + "\n")


def measured(*arguments: str, folder: Path) -> dict[str, float]:
    """Runs a command in a process whose peak memory is its own, and returns what it took."""
    code = (
        "import json, resource, sys; from umpirical.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit as stop: code = stop.code or 0\n"
        "own, made = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))\n"
        "print(json.dumps([own.ru_utime + own.ru_stime, own.ru_maxrss, made.ru_maxrss, code]), file=sys.stderr)\n"
    )
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    cpu, peak, child, exit_code = json.loads(done.stderr.strip().splitlines()[-1])
    return {
        "cpu_s": round(cpu, 1),
        "wall_s": round(time.monotonic() - started, 1),
        "peak_mb": peak // 1024,
        "reader_peak_mb": child // 1024,
        "exit": exit_code,
    }


def main() -> None:
    """Measures the commands one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transcripts", type=int, default=1000)
    parser.add_argument("--messages", type=int, default=200)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write_study(folder, asked.transcripts, asked.messages)
        found: dict[str, object] = {"transcripts": asked.transcripts, "messages": asked.messages}
        found["check"] = measured("check", ".", "--trust", folder=folder)
        found["run"] = measured("run", ".", "--yes", "--trust", "--no-preflight", folder=folder)
        found["report"] = measured("report", ".", folder=folder)
        [record] = folder.glob("runs/*/agent.json")
        found["trials"] = json.loads(record.read_text())["run"]["trials"]
        found["stimuli_mb"] = sum(file.stat().st_size for file in folder.glob("stimuli/*/*.parquet")) >> 20
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
