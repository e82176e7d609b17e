"""Settings of the collector that takes traces from workflows."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from physical_ai.settings.models.base import Model, SecretName, written

HeaderName = Annotated[str, written(r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", "the name of an HTTP header, like api-key")]
OtlpEndpoint = Annotated[
    str,
    written(
        r"^(https://[A-Za-z0-9.-]+(:\d{1,5})?(/[^\s?#]*)?|http://[a-z0-9-]+\.[a-z0-9-]+(\.svc(\.[a-z0-9.-]+)?)?:\d{1,5})$",
        "an address of OTLP over HTTP: https://otlp.contoso.com, or http://SERVICE.NAMESPACE:PORT in the cluster",
    ),
]


class Traces(Model):
    """Destination of the workflows' traces: exactly one of connectionSecret and endpoint is set."""

    connection_secret: SecretName | None = Field(
        default=None,
        description="Stack secret with the connection string of an Application Insights resource, for Azure Monitor.",
    )
    endpoint: OtlpEndpoint | None = Field(
        default=None, description="Address that takes OTLP over HTTP, without the path /v1/traces."
    )
    header_secrets: dict[HeaderName, SecretName] = Field(
        default_factory=dict,
        description="Headers that the endpoint requires, by name: stack secrets with their values.",
    )

    @model_validator(mode="after")
    def _one_destination(self) -> Self:
        if (self.connection_secret is None) == (self.endpoint is None):
            raise ValueError("write exactly one of connectionSecret and endpoint")
        if self.header_secrets and self.endpoint is None:
            raise ValueError("headerSecrets are for endpoint; Azure Monitor needs none")
        return self
