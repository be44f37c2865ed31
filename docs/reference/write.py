"""Writes the reference pages that follow from the code: commands, study file, formulas, columns of data frames.

python docs/reference/write.py            writes the pages
python docs/reference/write.py --check    fails if a page is not what the code gives
"""

import argparse
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import Any

import click

from umpirical.api import frames
from umpirical.cli import COMMANDS, cli
from umpirical.measures.catalogue import MEASURES, MeasureSpec
from umpirical.study.file import study_schema

FOLDER = Path(__file__).resolve().parent

Schema = Mapping[str, Any]


# The commands, in the words of their own help.

COMMANDS_HEAD = """\
# Commands

This is the output of `umpirical COMMAND --help`. [Exit codes](exit-codes.md) are the same for all of them, and
[the environment](environment.md) lists the variables they read. `umpirical completion bash` completes them in a shell.
"""


def commands_page() -> str:
    """Every command with its help, groups with those of their commands."""
    return "\n".join(
        [
            COMMANDS_HEAD,
            "| command | what it does |",
            "| --- | --- |",
            *(f"| [`{name}`](#umpirical-{name}) | {about} |" for name, about in COMMANDS.items()),
            "",
            *_helps(cli, "umpirical"),
        ]
    )


def _helps(group: click.Group, path: str) -> Iterator[str]:
    context = click.Context(group, info_name=path)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None:
            continue
        here = f"{path} {name}"
        yield f"{'##' if path == 'umpirical' else '###'} {here}"
        yield ""
        text = command.get_help(click.Context(command, info_name=here, terminal_width=100, help_option_names=HELP))
        yield f"```text\n{text}\n```"
        yield ""
        if isinstance(command, click.Group):
            yield from _helps(command, here)


# The keys of a study file, from its JSON Schema.

STUDY_FILE_HEAD = """\
# The study file

`umpirical.yaml` is YAML 1.2. A key that is not here is an error, with its line and the key that was probably meant.
`umpirical schema config` prints the same as JSON Schema. A file with `dataset` is a stress study, one with
`transcripts` is about agents, any other is a datasheet; or `protocol` says so.
"""

HELP = ["-h", "--help"]
"""As the command line has it: a command keeps the option that it was first asked for."""

SECTIONS = {
    "DatasheetSpec": "A datasheet study",
    "StressStudySpec": "A stress study",
    "AgentStudySpec": "A study of agent judges",
    "PairsStudySpec": "A study of labeled pairs",
    "JudgeSpec": "A judge",
    "JurySpec": "A jury",
    "ModelSpec": "A model",
    "TlsSpec": "Encrypted connections",
    "PriceSpec": "A price",
    "Decoding": "Decoding",
    "AnswerSpec": "How an answer is read",
    "GradeScale": "A scale",
    "Capabilities": "Capabilities",
    "Message": "A message of a prompt",
    "HttpSpec": "An endpoint",
    "PromptfooSpec": "An assertion of promptfoo's",
    "DatasheetDesignSpec": "The design of a datasheet",
    "VariantSpec": "A prompt variant",
    "DesignSpec": "The design of other studies",
    "DatasetSpec": "A dataset",
    "ColumnsSpec": "Columns",
    "SampleSpec": "A sample",
    "LimitsSpec": "Limits of a dataset",
    "ResponsesSpec": "Responses that a model writes",
    "StressSpec": "Stress tests",
    "SamplingSpec": "Sampling",
    "WriterSpec": "A writer",
    "ReviewSpec": "Review",
    "TranscriptsSpec": "Transcripts",
    "TranscriptLimitsSpec": "Limits of transcripts",
    "RuleSpec": "A rule for an agent",
    "ExampleSpec": "An example of a call",
    "RewritingSpec": "Rewriting",
    "LevelItemSpec": "An item in levels",
    "PairDatasetSpec": "A dataset of labeled pairs",
    "PairColumnsSpec": "Columns of labeled pairs",
    "PairsPolicy": "Checks of labeled pairs",
}
"""The parts of a study file, in the order of the page."""


def study_file_page() -> str:
    """Every key of a study file, with what it may be and what it is if it is left out."""
    parts = study_schema()["$defs"]
    if set(parts) != set(SECTIONS):
        raise SystemExit(f"name the parts of a study file in SECTIONS: {sorted(set(parts) ^ set(SECTIONS))}")
    lines = [STUDY_FILE_HEAD]
    for name, title in SECTIONS.items():
        lines += [f"## {title}", "", _sentence(parts[name].get("description", "")), ""]
        lines += ["| key | what it is | values | default |", "| --- | --- | --- | --- |"]
        needed = parts[name].get("required", [])
        for key, schema in parts[name]["properties"].items():
            default = "**needed**" if key in needed else _default(schema)
            said = schema.get("description") or _said_of_part(schema, parts)
            if not said:
                raise SystemExit(f"{name}.{key} has no description: give it one, so that the schema has it too")
            lines.append(f"| `{key}` | {_cell(_sentence(said))} | {_cell(_values(schema))} | {_cell(default)} |")
        lines.append("")
    return "\n".join(lines)


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text + ("" if text.endswith((".", "!", "?")) else ".")


def _said_of_part(schema: Schema, parts: Mapping[str, Schema]) -> str:
    """A key whose value is a part of its own is described there."""
    found = _parts_in(schema)
    return str(parts[found[0]].get("description", "")) if found else ""


def _parts_in(schema: Schema) -> list[str]:
    return re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema))


def _values(schema: Schema) -> str:
    """What a key may be, in a few words; links to the part that describes it."""
    if "$ref" in schema:
        part = schema["$ref"].rpartition("/")[2]
        return f"[{SECTIONS[part].lower()}](#{re.sub(r'[^a-z ]', '', SECTIONS[part].lower()).replace(' ', '-')})"
    if "anyOf" in schema:
        shown = [_values(each) for each in schema["anyOf"] if each.get("type") != "null"]
        return " or ".join(dict.fromkeys(shown))
    if choices := schema.get("enum") or [schema[name] for name in ("const",) if name in schema]:
        return ", ".join(f"`{value}`" for value in choices)
    if schema.get("type") == "array":
        of = schema.get("items") or next(iter(schema.get("prefixItems", [])), {})
        return f"list of {_values(of)}" if of else "list"
    if schema.get("type") == "object":
        of = schema.get("additionalProperties")
        return f"mapping to {_values(of)}" if isinstance(of, dict) else "mapping"
    return {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}.get(
        schema.get("type", ""), "anything"
    ) + _range(schema)


def _range(schema: Schema) -> str:
    low, high = (schema.get(name) for name in ("minimum", "maximum"))
    above, below = (schema.get(name) for name in ("exclusiveMinimum", "exclusiveMaximum"))
    words = [
        f"from {low:g}" if low is not None else f"above {above:g}" if above is not None else "",
        f"to {high:g}" if high is not None else f"below {below:g}" if below is not None else "",
    ]
    return "".join(f" {word}" for word in words if word)


def _default(schema: Schema) -> str:
    value = schema.get("default")
    if value in (None, {}, [], "") or isinstance(value, dict):
        return ""
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


# The measures, in the words of their contracts.

FORMULAS_HEAD = """\
# Measures and formulas

The definition of every measure, taken from the code. [Metrics](measures.md) describes each in a sentence. A level is
the unit that is counted; a cluster is a task family or an item. See also [How to read an
interval](../explanation/intervals.md).
"""

TITLES = {
    "preferences": "Preferences where there is nothing to prefer",
    "consistency": "Swapping the answers",
    "layout": "Position, label and list",
    "chance": "Preferences beyond chance",
    "sensitivity": "Graded differences",
    "quads": "Crossed tasks",
    "signal": "The signal model",
    "shifts": "Shifts between instructions",
    "length": "Length",
    "requirements": "Weights of requirements",
    "parts": "Parts of the test cases",
    "carriers": "Your own answers",
    "retest": "The same prompt again",
    "grades": "Grades",
    "changes": "Changed texts",
    "policies": "Policies for agents",
    "natural": "Natural and labeled pairs",
    "repeats": "Repeats",
    "gold": "Labels",
    "calls": "Calls",
}
"""What the page calls the families of measures."""

_LABEL = re.compile(r"\b(Formula|Level|Bounds|Interval|Reference):")


def formulas_page() -> str:
    """Every measure with its formula, its unit, when it is undefined, and how its interval is made."""
    lines = [FORMULAS_HEAD]
    for family, specs in groupby(filter(_is_built_in, MEASURES), key=_family):
        lines += [f"## {TITLES[family]}", ""]
        for spec in specs:
            symbol = f" ({spec.symbol})" if spec.symbol else ""
            lines += [f"### `{spec.name}`", "", f"**{spec.title}**{symbol}. {spec.about}", ""]
            lines += _paragraphs(spec.compute)
    return "\n".join(lines)


def _is_built_in(spec: MeasureSpec) -> bool:
    return MEASURES.is_built_in(spec.name)


def _family(spec: MeasureSpec) -> str:
    return spec.compute.__module__.split(".")[2]


def _paragraphs(function: Callable[..., object]) -> Iterator[str]:
    for paragraph in (inspect.getdoc(function) or "").split("\n\n"):
        text = _LABEL.sub(r"**\1:**", " ".join(paragraph.split())).replace("<", "&lt;")
        yield fill(text, 120, break_on_hyphens=False, break_long_words=False)
        yield ""


# The columns of data frames.

COLUMNS_HEAD = """\
# Columns of the data frames

`Report.judgments()` and `Report.stimuli()` return pandas data frames for an analysis of your own. A missing value is
missing, and never a number. A word has one meaning in all tables. Rows of one `cluster` are not independent: cluster
your standard errors by it.

```python
import umpirical

report = umpirical.datasheet("simulated:careful", size="screen")
calls = report.judgments()
calls[calls["family"] == "graded"].groupby("step")["correct"].mean()
```

[A notebook](../../examples/notebook/README.md) fits a clustered regression to them.

`Report.to_pandas()` has the measures, one in each row, and `ComparedJudges.to_pandas()` the differences between judges.
"""


COLUMNS_STORED = """\
## Exported tables

`umpirical export --to measures` has the columns of `measures`, and `judge`, `model`, `run`, `protocol`, `title`,
`scale` and `excluded`: the number of units that the value leaves out.

`umpirical export --to judgments` is the table that measures are counted from, under its own names:

| column | in the data frames |
| --- | --- |
| `delta` | `step` |
| `choice`, `label` | `answer`, of a judge that compares or grades |
| `value` | a grade as a number; not the value of a measure |
| `score` | how far a grade lies above the lowest one, in steps of the scale |
| `winner` | the better answer: 0 for `a` and 1 for `b`; the same as `better` |
| `groups` | every `group` of the test case |
| `level` | the quality of the answer in requirements; not `interval_level` |
| `why` | `trouble` |
"""


def columns_page() -> str:
    """Every column with its type and meaning."""
    tables = {"judgments": frames.CALLS, "stimuli": frames.CASES}
    tables |= {"measures": frames.MEASURES, "differences": frames.DIFFERENCES}
    rows = [line for name, columns in tables.items() for line in _columns(name, columns)]
    return "\n".join([COLUMNS_HEAD, *rows, COLUMNS_STORED])


def _columns(name: str, columns: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    yield from (f"## {name}", "", "| column | type | meaning |", "| --- | --- | --- |")
    yield from (f"| `{column}` | {kind} | {about} |" for column, (kind, about) in columns.items())
    yield ""


PAGES: dict[str, Callable[[], str]] = {
    "columns.md": columns_page,
    "commands.md": commands_page,
    "study-file.md": study_file_page,
    "formulas.md": formulas_page,
    "../../src/umpirical/protocols/umpirical.schema.json": lambda: json.dumps(study_schema(), separators=(",", ":")),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes or checks the pages; 1 if one is not as it should be."""
    parser = argparse.ArgumentParser(description="Writes the reference pages from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page differs")
    check = parser.parse_args(arguments).check
    wrong = 0
    for name, made in PAGES.items():
        page, text = FOLDER / name, made().rstrip("\n") + "\n"
        if not check:
            page.write_text(text, encoding="utf-8")
        elif not page.is_file() or page.read_text(encoding="utf-8") != text:
            sys.stderr.write(f"docs/reference/{name} is not what the code gives\n")
            sys.stderr.write("what to do: run python docs/reference/write.py, and read what has changed\n")
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
