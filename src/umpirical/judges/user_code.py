"""Frameworks that send reports of their use to their makers: switched off while a judge is measured.

A judge's prompts are the user's, and so is the fact that they are measured. Each variable was found by running the
framework with every other connection refused; it must be set before the framework is imported, or at least before its
first call.
"""

import asyncio
import contextvars
import os
import queue
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES, ExtensionFileLoader, FileFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn, TypeVar

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.judges.code_files import ADMITTED, excluded, installed_within
from umpirical.store.files import inside

QUIET = {
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    "DO_NOT_TRACK": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_MODEL_CATALOG_URI": "",
    "OPIK_ANALYTICS_ENABLE": "false",
    "OPIK_SENTRY_ENABLE": "false",
    "OPIK_TRACK_DISABLE": "true",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "RAGAS_DO_NOT_TRACK": "true",
    "WANDB_ERROR_REPORTING": "false",
    "WEAVE_DISABLED": "true",
}
"""Environment variables that switch telemetry off."""


def silence_telemetry() -> None:
    """Sets them for this process and those that it starts."""
    os.environ.update(QUIET)


# Threads for judges that are not asynchronous: one per call in flight, and none that delays the exit.


T = TypeVar("T")

Work = Callable[[], None]

_idle: "queue.LifoQueue[queue.SimpleQueue[Work]]" = queue.LifoQueue()


async def in_thread(function: Callable[..., T], *arguments: object) -> T:
    """Calls a function in a thread of its own. If cancelled, leaves the thread to end by itself.

    It sees the context variables of the caller: some frameworks keep the client there that the user has set.
    """
    loop, context = asyncio.get_running_loop(), contextvars.copy_context()
    future: asyncio.Future[T] = loop.create_future()

    def settle(answer: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(answer)  # type: ignore[arg-type]  # it is what the function returned
        else:
            future.set_exception(error)

    def work() -> None:
        answer: T | None = None
        failed: BaseException | None = None
        try:
            answer = context.run(function, *arguments)
        except StopIteration as error:
            # A future cannot carry a StopIteration: its awaiter would wait forever.
            failed = RuntimeError(f"StopIteration: {error}")
        except BaseException as error:  # noqa: BLE001  # it is raised again where it is awaited
            failed = error
        # The loop may be closed by the time an abandoned judge answers.
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, answer, failed)

    _inbox().put(work)
    return await future


def _inbox() -> "queue.SimpleQueue[Work]":
    """Returns the inbox of an idle thread, or of a new one."""
    try:
        return _idle.get_nowait()
    except queue.Empty:
        inbox: queue.SimpleQueue[Work] = queue.SimpleQueue()
        threading.Thread(target=_serve, args=(inbox,), name="umpirical-judge", daemon=True).start()
        return inbox


def _serve(inbox: "queue.SimpleQueue[Work]") -> None:
    while True:
        inbox.get()()
        _idle.put(inbox)


# The user's own code in a study folder: which files it is, and how it is imported.


def load_user_object(path: str, folder: Path) -> object:
    """Returns the object at `module:name`, or at `path/file.py:name`. A judge is usually beside the study file."""
    module, _, name = path.partition(":")
    file = inside(folder, module, what="judge code") if module.endswith(".py") else None
    if file is not None and excluded(file.parent, folder.resolve()):
        raise UsageError(
            f"the judge {path} is in a folder for installed packages or results", fix="move it to another folder"
        )
    # A script finds what is beside it.
    for place in (folder, *([file.parent] if file else [])):
        _admit(place)
    _forget_namesakes(folder.resolve())
    silence_telemetry()
    try:
        found = import_module(module) if file is None else _imported(file)
    except Exception as error:  # noqa: BLE001  # the user's own module: whatever it raises, it cannot be imported
        message = f"cannot import the judge {path}: {type(error).__name__}: {error}"
        expected = module if file else f"{module}.py"
        raise UsageError(message, fix=f"check that {expected} exists in {folder} and imports without errors") from None
    try:
        return attrgetter(name)(found)
    except Exception as error:  # noqa: BLE001  # a module or a class of the user's may answer with any of them
        known = [each for each, value in vars(found).items() if callable(value) and not each.startswith("_")]
        hint = f"choose one of: {', '.join(known[:10])}" if known else f"add a function with that name to {module}"
        raise UsageError(f"no {name!r} in {module}: {type(error).__name__}: {error}", fix=hint) from None


def _imported(file: Path) -> ModuleType:
    """Imports a file by its path. Two files of one name are two modules."""
    known = sys.modules.get(file.stem)
    if known is not None and getattr(known, "__file__", None) == str(file):
        return known
    name = file.stem if known is None else f"{file.stem}_{digest('file', str(file))[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, file, loader=_SourceOnly(name, str(file)))
    if spec is None or spec.loader is None:
        raise ImportError(f"{file.name} is not a Python file")
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _admit(folder: Path) -> None:
    """Puts a folder on the import path, with a finder that runs nothing but the files which a person can agree to."""
    home = folder.resolve()
    if home not in ADMITTED:
        ADMITTED.add(home)
        if _finder not in sys.path_hooks:
            sys.path_hooks.insert(0, _finder)
        for path in [path for path in sys.path_importer_cache if _home_of(path)]:
            del sys.path_importer_cache[path]
    sys.path[:] = [str(home), *(path for path in sys.path if path != str(home))]


def _forget_namesakes(home: Path) -> None:
    """Drops modules of another study that have the name of a file here, or its `judge.py` would answer for this one."""
    here = {file.stem for file in home.iterdir()}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name.partition(".")[0] in here and file and not Path(file).is_relative_to(home) and _home_of(file):
            del sys.modules[name]


class _SourceOnly(SourceFileLoader):
    """Compiles the source anew: a compiled file that came with a study may hold other code than its source."""

    def path_stats(self, path: Any) -> NoReturn:  # noqa: ANN401  # as in the base class
        raise OSError(f"{path}: compiled files are not used")


def _finder(path: str) -> FileFinder:
    home = _home_of(path)
    if home is None:
        raise ImportError(f"{path} is not in a study folder", path=path)
    if excluded(Path(os.path.abspath(path)), home):  # noqa: PTH100  # links stay as they are written
        return FileFinder(path)  # it finds nothing: nobody was shown what is in there
    return FileFinder(path, (ExtensionFileLoader, EXTENSION_SUFFIXES), (_SourceOnly, SOURCE_SUFFIXES))


def _home_of(path: str) -> Path | None:
    """Returns the study folder that a folder is in; None for one that is on the import path by itself."""
    given, place = Path(os.path.abspath(path)), Path(path or ".").resolve()  # noqa: PTH100
    for home in ADMITTED:
        within = given.is_relative_to(home) or place.is_relative_to(home)
        if within and not any(place.is_relative_to(other) for other in installed_within(home)):
            return home
    return None
