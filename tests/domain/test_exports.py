"""`__all__` stands in the faces of packages, and in the two modules whose point is to pass names on."""

import ast
import importlib
from pathlib import Path

import umpirical

ROOT = Path(umpirical.__file__).parent
PASSING_ON = {"api/extras.py", "store/posix.py"}


def faces() -> dict[str, Path]:
    """Every module that assigns `__all__`, by its path in the source."""
    found = {}
    for path in ROOT.rglob("*.py"):
        assigned = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.Assign)]
        if any(getattr(target, "id", "") == "__all__" for node in assigned for target in node.targets):
            found[str(path.relative_to(ROOT))] = path
    return found


def test_only_faces_have_one():
    found = faces()
    assert {"__init__.py", "api/__init__.py", "testing/__init__.py"} <= set(found)
    assert {name for name in found if not name.endswith("__init__.py")} == PASSING_ON


def test_what_a_face_offers_is_sorted_and_there():
    for path in faces().values():
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
        names = module.__all__
        # Constants first, then classes, then functions, each by alphabet.
        assert names == sorted(names, key=lambda thing: (not thing.isupper(), thing[0].islower(), thing)), path
        assert len(set(names)) == len(names), path
        assert [thing for thing in names if not hasattr(module, thing)] == [], path
