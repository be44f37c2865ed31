"""What the user writes about a model."""

import re
from decimal import Decimal
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from umpirical.domain.errors import UsageError
from umpirical.models.adapters.catalogue import ADAPTERS
from umpirical.models.redaction import SECRET_NAMES, looks_like_key


class PriceSpec(BaseModel):
    """US dollars per million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Decimal = Field(ge=0, description="US dollars for a million tokens that are sent.")
    output: Decimal = Field(ge=0, description="US dollars for a million tokens that come back.")


class TlsSpec(BaseModel):
    """Files for encrypted connections to a server that this machine's own settings do not cover."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ca: str | None = Field(
        default=None, description="Certificates (PEM) of the only authorities to trust for this server."
    )
    certificate: str | None = Field(default=None, description="Your client certificate (PEM), if the server wants one.")
    key: str | None = Field(
        default=None, description="Its private key (PEM, no passphrase), unless it is in the same file."
    )

    @model_validator(mode="after")
    def _usable(self) -> "TlsSpec":
        named = [path for path in (self.ca, self.certificate, self.key) if path is not None]
        if not named or (self.key and not self.certificate):
            raise ValueError("tls names ca, certificate, or certificate and key")
        if wrong := [path for path in named if not path.startswith(("/", "~/")) or not path.isprintable()]:
            raise ValueError(f"tls: {wrong[0]!r} must be an absolute path, or begin with ~/")
        return self


def _known_adapters(schema: dict[str, Any]) -> None:
    schema["enum"] = ADAPTERS.names()


class ModelSpec(BaseModel):
    """Which model, and where it is."""

    # An error must not show what was written: it may be a key in the wrong place.
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    adapter: str = Field(
        description="How it is reached: openai-compatible, anthropic, inspect, vllm, simulated, simulated-writer, or a "
        "plugin's.",
        json_schema_extra=_known_adapters,
    )
    name: str = Field(
        description="The model's name on its server; provider and model for inspect; for vllm, its folder or name on "
        "the Hugging Face hub; a simulated judge's profile; or generator or validator, of simulated writers."
    )
    base_url: str | None = Field(
        default=None, description="Of the server: http://127.0.0.1:8000/v1, or https://api.anthropic.com for anthropic."
    )
    api_key_env: str | None = Field(default=None, description="Environment variable that holds the key.")
    price: Literal["free"] | PriceSpec | None = Field(
        default=None, description="Only where no price is known: free for a server of your own, or dollars per million."
    )
    tls: TlsSpec | None = Field(
        default=None, exclude=True, description="For openai-compatible and anthropic: {ca, certificate, key}, by path."
    )
    timeout: float = Field(default=120, gt=0, description="Seconds for one attempt.")
    attempts: int = Field(default=5, ge=1, le=20, description="Attempts per call, the first included.")
    batch: bool = Field(default=False, description="Ask by the provider's batch interface, where the adapter has one.")
    model_args: dict[str, str | int | float | bool] = Field(
        default={},
        description="Arguments of the adapter's own, such as {responses_api: false} for inspect, or {dtype: bfloat16} "
        "for vllm.",
    )

    @field_validator("api_key_env")
    @classmethod
    def _names_a_variable(cls, name: str | None) -> str | None:
        if name is not None and looks_like_key(name):
            raise ValueError(
                "that looks like a key, not the name of a variable; put the key into an environment variable, and "
                "write the name of that variable here"
            )
        return name

    @field_validator("model_args")
    @classmethod
    def _hold_no_key(cls, arguments: dict[str, str | int | float | bool]) -> dict[str, str | int | float | bool]:
        for name, value in arguments.items():
            if isinstance(value, str) and SECRET_NAMES.search(name):
                raise ValueError(f"{name} looks like a key; keys are read from the environment only: see api_key_env")
        return arguments

    @model_validator(mode="after")
    def _reachable(self) -> "ModelSpec":
        try:
            adapter = ADAPTERS.get(self.adapter)
        except UsageError as error:
            raise ValueError(f"adapter: {error}; {error.fix}") from None
        if self.base_url and not re.match(r"https?://", self.base_url):
            raise ValueError("base_url must start with http:// or https://")
        if self.tls is not None and not adapter.takes_tls:
            raise ValueError("this adapter does not take tls")
        adapter.check(self)
        return self
