"""The environment of the page templates, in which text from outside is inert whatever a template does."""

from functools import cache

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from umpirical.domain.bills import BILLING_FAULTS
from umpirical.reports import charts, numbers
from umpirical.text.inert import inert


@cache
def environment(package: str) -> Environment:
    """Returns the templates of a package, and those that every page uses.

    Escaping is on whatever the template's name, and `_output` sees every value.
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
    templates.globals.update(numbers=numbers, dot_cell=charts.dot_cell, billing_faults=BILLING_FAULTS)
    return templates


def _output(value: object) -> object:
    """Returns what a template may print: text, made inert, and whole numbers.

    A float must be formatted by `numbers`, and None is a case that the template failed to handle.
    """
    if isinstance(value, float | bool) or value is None:
        raise TypeError(f"a template printed {value!r}; format it with umpirical.reports.numbers")
    # Markup is the output of a macro, whose parts have already passed through here.
    return inert(value) if isinstance(value, str) and not isinstance(value, Markup) else value
