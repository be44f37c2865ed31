"""What every part of a record is: frozen, and without fields nobody agreed on."""

from pydantic import BaseModel, ConfigDict

__all__ = ["Strict"]


class Strict(BaseModel):
    """A part of a record."""

    model_config = ConfigDict(extra="forbid", frozen=True)
