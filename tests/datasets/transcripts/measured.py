"""Reads transcripts, and prints what came of it and how much memory both processes took, in a process of its own."""

import json
import resource
import sys
from pathlib import Path

from umpirical.datasets.transcripts.files import read_transcripts
from umpirical.domain.errors import UsageError

try:
    found = read_transcripts(Path(sys.argv[1]))
    said = {"names": [each.name for each in found.transcripts], "notes": found.notes}
except UsageError as error:
    said = {"kind": type(error).__name__, "error": str(error), "fix": error.fix}
# What the kernel calls a process' peak begins with that of the process that started it, so this one's own is read from
# its memory. In kilobytes, on Linux.
own = Path("/proc/self/status").read_text(encoding="ascii")
said["parent"] = int(own.partition("VmHWM:")[2].split()[0]) >> 10
said["child"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
print(json.dumps(said))  # noqa: T201
