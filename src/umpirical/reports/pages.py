"""Pages: the templates' environment, in which text from outside is inert whatever a template does."""

from functools import cache

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from umpirical.reports import charts, numbers
from umpirical.text.inert import inert

__all__ = ["environment"]


@cache
def environment(package: str) -> Environment:
    """The templates of a package, and those that every page is made of.

    Escaping is on whatever a template is called, and `_output` sees every value.
    """
    templates = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("umpirical.reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_output,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.globals.update(numbers=numbers, dot_cell=charts.dot_cell)
    return templates


def _output(value: object) -> object:
    """What a template may print: text, made inert, and whole numbers.

    A float has to come through `numbers`, and None is a value that someone forgot to think of.
    """
    if isinstance(value, float | bool) or value is None:
        raise TypeError(f"a template printed {value!r}; format it with umpirical.reports.numbers")
    # Markup is the output of a macro, whose parts have been here before.
    return inert(value) if isinstance(value, str) and not isinstance(value, Markup) else value
