"""A process that dies in the middle of a line, as one does whose parser overruns its stack."""

import json
import os
import signal
import sys

job = json.load(sys.stdin)
sys.stdout.write(json.dumps({"file": "log.eval"}) + '\n{"name": "a", "strata": {}, "columns": {}}\n[{"role": "us')
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGSEGV)
