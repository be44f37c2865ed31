"""The pages' templates. Text from outside is inert in them as it is in the reports, by the same rules."""

from functools import cache

from jinja2 import Environment, PackageLoader

from umpirical.domain.reviews import REASONS
from umpirical.reports.rendering import environment as reports_environment
from umpirical.review.web.editing import to_editor
from umpirical.text.diffs import signed

__all__ = ["environment", "render"]


@cache
def environment() -> Environment:
    """That of the reports, with the pages of this package."""
    templates = reports_environment().overlay(loader=PackageLoader("umpirical.review.web"))
    templates.filters = {**templates.filters, "signed": signed, "to_editor": to_editor}
    templates.globals = {**templates.globals, "reasons": REASONS}
    return templates


def render(template: str, **values: object) -> str:
    return environment().get_template(template).render(values)
