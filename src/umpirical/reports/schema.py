"""The JSON Schema of the datasheet record, as it ships."""

import json
from importlib.resources import files

from umpirical.reports.record import Datasheet

__all__ = ["datasheet_schema", "generated_schema"]


def datasheet_schema() -> str:
    """The schema that ships with this version."""
    return (files("umpirical.reports") / "judge-datasheet-1.schema.json").read_text(encoding="utf-8")


def generated_schema() -> str:
    """The schema as it follows from the code; a test holds the shipped one against it."""
    schema = Datasheet.model_json_schema(mode="serialization")
    whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return json.dumps(whole, indent=1) + "\n"
