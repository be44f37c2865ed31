"""Models that write stimuli, as a study file names them."""

from pydantic import BaseModel, ConfigDict, Field, model_validator

from umpirical.domain.digests import canonical_json
from umpirical.models.adapters.catalogue import ADAPTERS
from umpirical.models.spec import ModelSpec
from umpirical.stimuli.generation.commissions import Writer


class WriterSpec(BaseModel):
    """A model that writes stimuli, or that validates them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: ModelSpec
    max_tokens: int = Field(default=2000, ge=1, description="Of one answer.")

    @model_validator(mode="after")
    def _writes(self) -> "WriterSpec":
        if not ADAPTERS.get(self.model.adapter).writes:
            raise ValueError("a simulated judge cannot write: name a model on a server, or adapter: simulated-writer")
        return self

    @property
    def simulated(self) -> bool:
        """Whether it is a program that stands in for a model, for a rehearsal."""
        return ADAPTERS.get(self.model.adapter).simulated

    @property
    def writer(self) -> Writer:
        """The model as commissions name it."""
        endpoint = self.model.model_dump(mode="json", include={"adapter", "base_url", "batch", "model_args"})
        return Writer(self.model.name, canonical_json(endpoint), self.max_tokens, self.simulated)
