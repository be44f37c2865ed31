"""Code that is swapped after a person has agreed to it: it is asked about again, and it is another judge."""

import json
import os
import py_compile
import sys

import pytest

from umpirical.domain.errors import NotTrusted, UsageError
from umpirical.domain.trials import Presentation, Presented
from umpirical.judges.code_files import CHANGED, MOST, imported_files, program_files, python_files
from umpirical.judges.factory import build_judge
from umpirical.judges.spec import JudgeSpec
from umpirical.judges.user_code import load_user_object
from umpirical.models.spec import Calling
from umpirical.study.file import read_study
from umpirical.study.trust import agree_to_all, agree_to_none, ensure_trusted

FUNCTION = "def judge(task, first, second):\n    return {!r}\n"

PROGRAM = """\
import json, sys
for line in sys.stdin:
    print(json.dumps({{"id": json.loads(line)["id"], "verdict": {!r}}}), flush=True)
"""


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def link(folder, name, target):
    (folder / name).symlink_to(target)


def study(folder, **judge):
    write(folder, "umpirical.yaml", json.dumps({"study": "s", "judges": [{"name": "theirs", **judge}]}))
    return read_study(folder)


def linked(folder):
    link(folder, "pkg", ".h")
    return write(folder, ".h/judge.py", FUNCTION.format("1"))


def linked_outside(folder):
    link(folder, "pkg", folder.parent / "outside")
    return write(folder.parent, "outside/judge.py", FUNCTION.format("1"))


def beside(folder):
    write(folder, "judge.py", "from rules import verdict\ndef judge(task, first, second):\n    return verdict\n")
    return write(folder, "rules.py", "verdict = '1'\n")


def within_function(folder):
    write(folder, "judge.py", "def judge(task, first, second):\n    from pkg import rules\n    return rules.verdict\n")
    write(folder, "pkg/__init__.py", "")
    return write(folder, "pkg/rules.py", "from .deep import verdict\n").with_name("deep.py")


FUNCTIONS = {
    "hidden": (".hidden/judge.py:judge", lambda f: write(f, ".hidden/judge.py", FUNCTION.format("1"))),
    "compiled": ("__pycache__/judge.py:judge", lambda f: write(f, "__pycache__/judge.py", FUNCTION.format("1"))),
    "namespace": ("__pycache__.judge:judge", lambda f: write(f, "__pycache__/judge.py", FUNCTION.format("1"))),
    "linked": ("pkg.judge:judge", linked),
    "linked outside": ("pkg.judge:judge", linked_outside),
    "linked file": (
        "judge:judge",
        lambda f: (link(f, "judge.py", "x.txt"), write(f, "x.txt", FUNCTION.format("1")))[1],
    ),
    "beside": ("judge:judge", beside),
    "within a function": ("judge:judge", within_function),
}


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("judge", "rules", "pkg"):  # an earlier test may have left one of its own
        monkeypatch.delitem(sys.modules, name, raising=False)
    known = set(sys.modules)
    yield
    for name in set(sys.modules) - known:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]


def forget(folder):
    """As another process would find it."""
    for name, module in list(sys.modules.items()):
        places = [getattr(module, "__file__", None) or "", *map(str, getattr(module, "__path__", []))]
        if any(str(folder.parent) in place for place in places):
            del sys.modules[name]
    sys.path_importer_cache.clear()


def fingerprint(spec, folder):
    forget(folder)
    return build_judge(spec, folder=folder, calling=Calling()).fingerprint


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_swapped_function_is_asked_about_again_and_is_another_judge(tmp_path, name):
    path, prepare = FUNCTIONS[name]
    folder = tmp_path / "study"
    folder.mkdir()
    file = prepare(folder)
    if not file.exists():
        file.write_text("verdict = '1'\n")
    theirs = study(folder, callable=path)
    ensure_trusted(theirs, agree_to_all)
    ensure_trusted(theirs, agree_to_none)
    before = fingerprint(theirs.spec.judges[0], folder)
    assert fingerprint(theirs.spec.judges[0], folder) == before
    file.write_text(file.read_text().replace("'1'", "'2'"))
    with pytest.raises(NotTrusted, match="may import"):
        ensure_trusted(theirs, agree_to_none)
    assert fingerprint(theirs.spec.judges[0], folder) != before


def test_two_studies_in_one_process_each_get_their_own_judge(tmp_path):
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        beside(folder)
        write(folder, "rules.py", f"verdict = {folder.name!r}\n")
    for folder in [*folders, folders[0]]:
        assert load_user_object("judge:judge", folder)("", "", "") == folder.name


@pytest.mark.parametrize("name", [".venv/judge.py:judge", "runs/judge.py:judge", "node_modules/judge.py:judge"])
def test_a_judge_among_installed_packages_is_not_loaded(tmp_path, name):
    file = write(tmp_path, name.partition(":")[0], FUNCTION.format("1"))
    write(tmp_path, ".venv/pyvenv.cfg", "")
    assert str(file.relative_to(tmp_path)) not in python_files(tmp_path)
    with pytest.raises(UsageError, match="installed packages or results"):
        build_judge(JudgeSpec(name="j", callable=name), folder=tmp_path, calling=Calling())


@pytest.mark.parametrize("name", ["venv.judge:judge", "runs.judge:judge", "node_modules.judge:judge"])
def test_nor_is_it_imported_by_its_name(tmp_path, name):
    write(tmp_path, f"{name.partition('.')[0]}/judge.py", FUNCTION.format("1"))
    write(tmp_path, "venv/pyvenv.cfg", "")
    with pytest.raises(UsageError, match="cannot import the judge"):
        build_judge(JudgeSpec(name="j", callable=name), folder=tmp_path, calling=Calling())


def test_code_that_was_loaded_once_is_still_listed(tmp_path):
    """A folder that was put on the import path for one judge is no environment."""
    write(tmp_path, "src/judge.py", FUNCTION.format("1"))
    before = list(python_files(tmp_path))
    build_judge(JudgeSpec(name="j", callable="src/judge.py:judge"), folder=tmp_path, calling=Calling())
    assert list(python_files(tmp_path)) == before == ["src/judge.py"]


def test_an_unrelated_file_leaves_the_judge_as_it_is(tmp_path):
    beside(tmp_path)
    spec = JudgeSpec(name="j", callable="judge:judge")
    before = fingerprint(spec, tmp_path)
    write(tmp_path, "plots.py", "print('a chart')\n")
    assert fingerprint(spec, tmp_path) == before
    assert list(imported_files("judge", tmp_path)) == ["judge.py", "rules.py"]


PYTHON = sys.executable
PROGRAMS = {
    "module": ([PYTHON, "-m", "judge"], "judge.py"),
    "package": ([PYTHON, "-m", "pkg.judge"], "pkg/judge.py"),
    "folder": ([PYTHON, ".hidden"], ".hidden/__main__.py"),
    "hidden": ([PYTHON, ".hidden/judge.py"], ".hidden/rules.py"),
    "compiled": ([PYTHON, "-m", "__pycache__.judge"], "__pycache__/judge.py"),
    "sourceless": ([PYTHON, "-m", "judge"], "judge.pyc"),
    "make": (["make", "-s"], "Makefile"),
    "make in a hidden folder": (["make", "-C", ".h"], ".h/Makefile"),
    "npm": (["npm", "start"], "package.json"),
    "node": (["node", "judge"], "judge.js"),
    "another ending": (["node", "judge.mjs"], "rules.cjs"),
    "shell": (["sh", "-c", "cd node_modules/x && python3 judge.py"], "node_modules/x/judge.py"),
    "variable": (["env", "PYTHONPATH=.venv/lib", PYTHON, "-m", "judge"], ".venv/lib/judge.py"),
    "installed": (["node", "node_modules/x/judge.js"], "node_modules/x/rules.js"),
    "no ending": (["./judge"], "judge"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_swapped_program_is_asked_about_again_and_is_another_judge(tmp_path, name):
    command, swapped = PROGRAMS[name]
    folder = tmp_path / "study"
    write(folder, ".venv/pyvenv.cfg", "")
    for named in (*command, swapped):
        if "/" in named and not named.startswith("/") and "=" not in named and " " not in named:
            write(folder, named, "one")
    file = write(folder, swapped, "#!/bin/sh\none")
    theirs = study(folder, exec=command)
    ensure_trusted(theirs, agree_to_all)
    ensure_trusted(theirs, agree_to_none)
    before = fingerprint(theirs.spec.judges[0], folder)
    file.write_text("#!/bin/sh\ntwo")
    with pytest.raises(NotTrusted, match=f"may load {swapped}"):
        ensure_trusted(theirs, agree_to_none)
    assert fingerprint(theirs.spec.judges[0], folder) != before


@pytest.mark.parametrize("name", ["link.py", "pkg/judge.py"])
def test_a_program_behind_a_link_is_digested_as_it_is(tmp_path, name):
    folder = tmp_path / "study"
    folder.mkdir()
    outside = write(tmp_path, "outside/judge.py", "one")
    link(folder, "link.py", outside)
    link(folder, "pkg", outside.parent)
    spec = JudgeSpec(name="j", exec=[PYTHON, name])
    before = fingerprint(spec, folder)
    assert name in program_files(spec.exec, folder)
    outside.write_text("two")
    assert fingerprint(spec, folder) != before


def test_data_and_results_are_no_code(tmp_path):
    for name in ("data.csv", "essay.txt", "umpirical.yaml", ".env", "runs/r/lock", "stimuli/x/a.sh", "notes.md", "log"):
        write(tmp_path, name, "x")
    write(tmp_path, "judge.py", "x")
    assert list(program_files([PYTHON, "judge.py"], tmp_path)) == ["judge.py"]


def test_links_in_a_circle_end_and_a_link_to_everything_is_refused(tmp_path, monkeypatch):
    write(tmp_path, "a/judge.py", "x")
    link(tmp_path / "a", "up", tmp_path)
    link(tmp_path, "again", "a")
    assert len(program_files(["make"], tmp_path)) == 1
    monkeypatch.setattr("umpirical.judges.code_files.MOST", 3)
    with pytest.raises(UsageError, match="too many to list its code"):
        program_files(["make"], tmp_path)
    assert MOST > 10_000


async def answer(judge):
    response = await judge.ask(judge.request(Presented("t", "a", "b"), Presentation()), trial_id="t")
    return response.text or response.failure_detail


async def test_two_programs_never_answer_in_one_run(tmp_path):
    """The first process has answered and ended; its code is swapped before the next one starts."""
    file = write(tmp_path, "judge.py", PROGRAM.format("1").replace("flush=True)", "flush=True); sys.exit()"))
    spec = JudgeSpec(name="j", exec=[PYTHON, "-m", "judge"])
    judge = build_judge(spec, folder=tmp_path, calling=Calling())
    assert json.loads(await answer(judge)) == {"verdict": "1"}
    file.write_text(PROGRAM.format("2"))
    for _ in range(40):
        said = await answer(judge)
        if CHANGED in said:
            break
    assert CHANGED in said
    await judge.close()
    # Whoever opens the judge of that run again, in this process or in another one, is told too.
    with pytest.raises(UsageError, match="has changed since the run began"):
        build_judge(spec, folder=tmp_path, calling=Calling(), identity=judge.adapted.identity)


async def test_a_program_does_not_run_what_was_compiled_before_it_was_sent(tmp_path):
    write(
        tmp_path,
        "judge.py",
        "import rules\n" + PROGRAM.replace("{!r}", "rules.verdict").replace("{{", "{").replace("}}", "}"),
    )
    rules = write(tmp_path, "rules.py", "verdict = '2'\n")
    target = tmp_path / "__pycache__" / f"rules.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(str(rules), cfile=str(target), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    rules.write_text("verdict = '1'\n")
    judge = build_judge(JudgeSpec(name="j", exec=[PYTHON, "judge.py"]), folder=tmp_path, calling=Calling())
    assert json.loads(await answer(judge)) == {"verdict": "1"}
    await judge.close()


def test_a_file_that_is_put_back_in_time_is_read_again(tmp_path):
    """Size and time of the change are as before: only its digest tells."""
    file = write(tmp_path, "judge.py", "one")
    spec = JudgeSpec(name="j", exec=[PYTHON, "judge.py"])
    before, times = fingerprint(spec, tmp_path), file.stat()
    file.write_text("two")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert fingerprint(spec, tmp_path) != before
