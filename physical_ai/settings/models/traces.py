"""The shape of settings about traces and the logs of containers."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from physical_ai.settings.models.base import Model, written

SecretName = Annotated[str, written(r"^[A-Za-z][A-Za-z0-9]*$", "the name of a stack secret, like pagerUrl")]
HeaderName = Annotated[str, written(r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$", "the name of an HTTP header, like api-key")]
OtlpEndpoint = Annotated[
    str,
    written(
        r"^(https://[A-Za-z0-9.-]+(:\d{1,5})?(/[^\s?#]*)?|http://[a-z0-9-]+\.[a-z0-9-]+(\.svc(\.[a-z0-9.-]+)?)?:\d{1,5})$",
        "an address of OTLP over HTTP: https://otlp.contoso.com, or http://SERVICE.NAMESPACE:PORT in the cluster",
    ),
]
NamespaceName = Annotated[str, written(r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", "the name of a Kubernetes namespace")]


class Traces(Model):
    """Where traces of workflows are sent: to exactly one of connectionSecret and endpoint."""

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


class ContainerLogs(Model):
    """What containers print, in Log Analytics."""

    namespaces: Annotated[tuple[NamespaceName, ...], Field(min_length=1)] = Field(
        default=("osmo-workflows",),
        description="Namespaces whose containers are logged. The others of the platform and of AKS are left out; one"
        " that you create is logged, too.",
    )
    interval_minutes: Annotated[int, Field(ge=1, le=30)] = Field(
        default=5, description="Minutes between two collections of the inventory of Pods; logs are sent at once."
    )
