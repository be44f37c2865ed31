"""Writes docs/reference/api.md: the guide from its template with its examples run, and the reference from the code.

The template is `api.md.jinja`. Its Python examples are run one after the other in an empty folder, as a person would
type them into one session. What an example prints, and the value of its last line, stands below it in the page.

    python docs/reference/api/write.py            writes the page
    python docs/reference/api/write.py --check    fails if the page is not what the template and the code give
"""

import argparse
import ast
import inspect
import io
import linecache
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, redirect_stdout
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jinja2 import Environment, StrictUndefined

import umpirical

TEMPLATE = Path(__file__).resolve().parent / "api.md.jinja"
PAGE = TEMPLATE.parents[1] / "api.md"
WIDTH = 100

_EXAMPLE = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_MODULE = re.compile(r"\b(?!p[dl]\.)(?:[a-z_]\w*\.)+(?=[A-Z])|\bcollections\.abc\.|\btyping\.")


def render_page(template: str) -> str:
    """The page, with its examples run."""
    texts = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)  # noqa: S701  # Markdown
    text = texts.from_string(template).render(reference=reference())
    outputs = iter(run_examples(_EXAMPLE.findall(text)))
    return _EXAMPLE.sub(lambda found: found[0] + _shown(next(outputs)), text)


def _shown(output: str) -> str:
    return f"\n```text\n{output}```\n" if output else ""


def run_examples(examples: Sequence[str], *, folder: Path | None = None) -> list[str]:
    """What each example shows: all that it prints, and its last line if that has a value.

    They share their names, as cells of a notebook do. An example that raises stops it all, unless it says itself what
    is raised.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    with TemporaryDirectory(prefix="umpirical-examples-") as empty, chdir(folder or empty):
        return [_run(example, number, names) for number, example in enumerate(examples, start=1)]


def _run(example: str, number: int, names: dict[str, Any]) -> str:
    name = f"<example {number} of docs/reference/api.md>"
    # A judge that is typed into a notebook has a source too.
    linecache.cache[name] = (len(example), None, example.splitlines(keepends=True), name)
    tree = ast.parse(example, name)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with redirect_stdout(io.StringIO()) as shown:
        exec(compile(tree, name, "exec"), names)  # noqa: S102  # our own examples
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)  # noqa: S307  # likewise
            if value is not None:
                print(repr(value))  # noqa: T201  # that is what is captured
    return "".join(f"{line.rstrip()}\n" for line in shown.getvalue().splitlines())


def reference() -> str:
    """Every public name: how it is called, and what its docstring says."""
    return "\n\n".join("\n\n".join(_entry(name)) for name in umpirical.__all__)


def _entry(name: str) -> Iterator[str]:
    yield f"### `{name}`"
    found = getattr(umpirical, name)
    if inspect.isclass(found):
        yield _paragraphs(found)
        yield from _members(found)
    elif name.endswith("_async"):
        plain = name.removesuffix("_async")
        yield f"`await umpirical.{name}(...)` takes the parameters of [`{plain}`](#{plain}) and returns the same."
    elif callable(found):
        yield _signature(name, found)
        yield _paragraphs(found)
    else:
        yield f"The version of the package: a `{type(found).__name__}`."


def _members(kind: type) -> Iterator[str]:
    """Attributes, properties and methods of its own, in the order of their definition."""
    yield from _attributes(kind)
    for name, member in vars(kind).items():
        if name.startswith("_"):
            continue
        function = member.fget if isinstance(member, property) else member
        if inspect.isfunction(function):
            called = f"{kind.__name__}.{name}"
            yield _property(called, function) if isinstance(member, property) else _signature(called, function)
            if function.__doc__:
                yield _paragraphs(function)


def _attributes(kind: type) -> Iterator[str]:
    """What it assigns to itself when it is made, with the docstring that stands below."""
    (made,) = ast.parse(textwrap.dedent(inspect.getsource(kind.__init__))).body  # type: ignore[misc]  # its source is known
    steps = made.body if isinstance(made, ast.FunctionDef) else []
    for step, after in pairwise(steps):
        if isinstance(step, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            where = ast.unparse(step.target).replace("self", kind.__name__, 1)
            annotation = ast.unparse(step.annotation).replace("RecordT_co", "Record")
            yield f"```py\n{where}: {annotation}\n```"
            yield " ".join(str(after.value.value).split())


def _property(name: str, function: Callable[..., object]) -> str:
    return f"```py\n{name}: {_annotation(inspect.signature(function).return_annotation)}\n```"


def _signature(name: str, function: Callable[..., object]) -> str:
    """On one line if it fits, else with a line for each parameter."""
    signature = inspect.signature(function)
    given = [_parameter(each) for each in signature.parameters.values() if each.name != "self"]
    starred = [index for index, each in enumerate(signature.parameters.values()) if each.kind is each.KEYWORD_ONLY]
    if starred:
        given.insert(starred[0] - ("self" in signature.parameters), "*")
    end = f") -> {_annotation(signature.return_annotation)}"
    line = f"{name}({', '.join(given)}{end}"
    if len(line) > WIDTH:
        line = f"{name}(\n" + "".join(f"    {each},\n" for each in given) + end
    return f"```py\n{line}\n```"


def _parameter(each: inspect.Parameter) -> str:
    default = "" if each.default is each.empty else f" = {each.default!r}"
    return f"{each.name}: {_annotation(each.annotation)}{default}"


def _annotation(annotation: object) -> str:
    """As it is written, without the modules that names are imported from."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"Optional\[(.*)\]$", r"\1 | None", _MODULE.sub("", text))


def _paragraphs(found: object) -> str:
    paragraphs = (inspect.getdoc(found) or "").split("\n\n")
    return "\n\n".join(textwrap.fill(" ".join(each.split()), 120, break_on_hyphens=False) for each in paragraphs)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes or checks the page; 1 if it is not as it should be."""
    parser = argparse.ArgumentParser(description="Writes docs/reference/api.md from its template and the code.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page differs")
    options = parser.parse_args(arguments)
    page = render_page(TEMPLATE.read_text(encoding="utf-8"))
    if not options.check:
        PAGE.write_text(page, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page:
        sys.stderr.write("docs/reference/api.md is not what its template and the code give\n")
        sys.stderr.write("what to do: run python docs/reference/api/write.py, and read what has changed\n")
        return 1
    return 0


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    sys.exit(main())
