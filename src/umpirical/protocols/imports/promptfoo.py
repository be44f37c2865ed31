"""The judges of a promptfoo config: promptfoo itself asks them, so nothing about them changes."""

from collections.abc import Mapping
from pathlib import Path

from umpirical.domain.errors import UsageError
from umpirical.judges.promptfoo import promptfoo
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.imports.configuration import Configuration, Moved, slug
from umpirical.protocols.start import study_name

COUNTED = "it counts or names results; the verdict itself is tested"


def promptfoo_study(config: Configuration, folder: Path) -> Moved:
    """Returns a datasheet of every assertion of a config that a model decides and that a datasheet can test."""
    home, name = config.path.resolve().parent, config.path.name
    copied = home != folder.resolve()
    judges: dict[str, dict[str, object]] = {}
    seen: list[object] = []
    notes = []
    for number, (place, entry) in enumerate(promptfoo().assertions(name, home)):
        if isinstance(entry, UsageError):
            config.dropped(place, f"{entry}: {entry.fix}")
            continue
        if entry.made_of in seen:
            config.dropped(place, "the same judge as one above")
            continue
        seen.append(entry.made_of)
        if copied and entry.files:
            fix = f"write the study beside them:  umpirical init {home} --from {config.path}"
            raise config.error(place, f"it needs the file {entry.files[0].name}", fix=fix)
        base = slug(entry.title)
        judge = base if base not in judges else f"{base[:58]}-{number + 1}"
        judges[judge] = {"promptfoo": {"config": name, "assertion": number}, "batch": 64, **entry.keys}
        for key in ("weight", "metric"):
            config.dropped(f"{place}.{key}", COUNTED)
        config.kept(place, f"judge {judge}", "promptfoo asks it")
        test = place.rpartition(".")[0]
        for part in (test, "defaultTest"):
            config.kept(f"{part}.options", f"judge {judge}", "promptfoo asks it")
            config.kept(f"{part}.provider", f"judge {judge}", "promptfoo asks it")
            config.kept(f"{part}.vars", f"judge {judge}", "a variable that holds the task gets that of each test case")
        if not entry.sees_task:
            notes.append(f"  judge {judge} does not see the task: to test whether it follows tasks, add {{{{task}}}}")
    if not judges:
        why = next((told.why for _, told in config.report() if ": " in told.why), "")
        fix = why or "add an assertion such as {type: llm-rubric, value: ...} under defaultTest or tests"
        raise config.error("defaultTest", "no assertion that a model decides can be tested", fix=fix)
    config.kept("env", "promptfoo reads it")
    config.changed("providers", "graders only", "the models under test are not asked")
    for key in config.document.data:
        config.dropped(key, "only the judges are tested")
    text = config.document.text
    return Moved(
        DATASHEET,
        "promptfoo",
        {"study": study_name(folder), "seed": 1, "judges": [{"name": n, **j} for n, j in judges.items()], **ASKED},
        texts={name: text} if copied else {},
        notes=[*notes, "  promptfoo must be installed:  npm install --global promptfoo"],
        runs_code=True,
    )


ASKED: Mapping[str, int] = {"concurrency": 64}
