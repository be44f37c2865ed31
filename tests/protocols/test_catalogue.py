"""A study finds its protocol without the import of the others."""

import sys
from subprocess import run

from umpirical.protocols.catalogue import MARKS, PROTOCOLS


def test_the_marks_are_those_of_the_built_in_protocols():
    marked = {protocol.name: protocol.mark for protocol in PROTOCOLS if protocol.mark}
    assert marked == MARKS


def test_a_study_without_a_mark_imports_the_protocol_of_the_datasheet_alone(tmp_path):
    study = "{'study': 's', 'judges': []}"
    code = (
        f"import sys; from umpirical.protocols.catalogue import protocol_of_study; protocol_of_study({study}); "
        "print(*sorted(name for name in sys.modules if name.startswith('umpirical.protocols.') and "
        "name.endswith('.protocol')))"
    )
    done = run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["umpirical.protocols.datasheet.protocol", "umpirical.protocols.protocol"]
