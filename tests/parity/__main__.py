"""`python -m tests.parity` writes down what every record is now: for a change that is meant to change a number."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.parity.studies import RECORDS, digests, records

with TemporaryDirectory() as folder:
    found = {name: digests(record) for name, record in records(Path(folder) / "studies").items()}
RECORDS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
