"""The pages' templates. Text from outside is inert in them as it is in the reports, by the same rules."""

from functools import cache

from jinja2 import Environment

from umpirical.domain.reviews import REASONS
from umpirical.reports.pages import environment as reports_environment
from umpirical.text.diffs import signed
from umpirical.web.editing import to_editor

__all__ = ["environment", "render"]


@cache
def environment() -> Environment:
    """That of the reports, with the pages of this package."""
    templates = reports_environment("umpirical.web")
    templates.filters = {**templates.filters, "signed": signed, "to_editor": to_editor}
    templates.globals = {**templates.globals, "reasons": REASONS}
    return templates


def render(template: str, **values: object) -> str:
    return environment().get_template(template).render(values)
