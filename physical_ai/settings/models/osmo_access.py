"""Settings about access to OSMO's control plane: its address, certificate, login and limits."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from parts.cert_manager.names import LETS_ENCRYPT
from physical_ai.settings.models.base import Address, EntraId, Generation, Model, ResourceGroupName, written
from physical_ai.settings.models.grid_driver import SecretName

HostName = Annotated[
    str,
    written(
        r"^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.){1,8}[a-z]{2,63}$",
        "a DNS name in lowercase, like osmo.example.com",
    ),
]
OsmoRole = Literal["osmo-admin", "osmo-user"]
"""Roles of OSMO's chart that groups of users can get. The chart's roles for agents and for containers of workflows are
excluded.
"""


VaultId = Annotated[
    str,
    written(
        r"^/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.KeyVault/vaults/[A-Za-z0-9-]{3,24}$",
        "the resource id of a key vault, /subscriptions/…/vaults/<name>",
    ),
]


class VaultCertificate(Model):
    """A certificate in an existing key vault with Azure RBAC."""

    vault_id: VaultId = Field(description="Resource id of the vault.")
    certificate: Annotated[
        str, written(r"^[A-Za-z0-9-]{1,127}$", "the name of a certificate: letters, digits and hyphens")
    ] = Field(description="Name of the certificate. The gateway gets the right to read this one, and no other.")


ZoneId = Annotated[
    str,
    written(
        r"^/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Network/dns[Zz]ones/"
        r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.){1,8}[a-z]{2,63}$",
        "the resource id of a public DNS zone, /subscriptions/…/dnsZones/<name>",
    ),
]


class Acme(Model):
    """A certificate authority that verifies a record in the host's public DNS zone (ACME)."""

    email: Annotated[str, written(r"^[^@\s]+@[^@\s]+\.[^@\s]+$", "an e-mail address")] = Field(
        description="E-mail address of the account at the certificate authority."
    )
    zone_id: ZoneId = Field(
        description="Resource id of the public DNS zone that host is in. cert-manager gets DNS Zone Contributor on it."
    )
    server: Annotated[str, written(r"^https://\S+$", "an https address")] = Field(
        default=LETS_ENCRYPT, description="Directory of the certificate authority."
    )


class CertManager(Model):
    """cert-manager, which requests and renews the certificate, from a certificate authority or by an existing
    issuer.
    """

    acme: Acme | None = Field(default=None, description="The authority; absent: clusterIssuer.")
    cluster_issuer: SecretName | None = Field(
        default=None, description="Name of a ClusterIssuer that the stack does not create; absent: acme."
    )

    @model_validator(mode="after")
    def _is_one_issuer(self) -> Self:
        if (self.acme is None) == (self.cluster_issuer is None):
            raise ValueError("write either acme or clusterIssuer")
        return self


class GatewayTls(Model):
    """Certificate of the gateway: a Secret of type kubernetes.io/tls in osmo-control-plane."""

    source: Literal["stack", "keyVault", "certManager", "existing"] = Field(
        default="stack",
        description="stack: the deployment creates the Secret from the stack's secrets osmoTlsCertificate and"
        " osmoTlsKey (PEM). keyVault: AKS' secrets provider creates it from a certificate of a vault."
        " certManager: cert-manager, which the deployment installs, has it issued and renews it. existing: something"
        " else maintains it.",
    )
    key_vault: VaultCertificate | None = Field(
        default=None, description="Certificate in a key vault; only with source: keyVault."
    )
    cert_manager: CertManager | None = Field(
        default=None, description="Issuer of the certificate; only with source: certManager."
    )
    secret_name: SecretName = Field(default="osmo-gateway-tls", description="Name of the Secret.")

    @model_validator(mode="after")
    def _is_one_source(self) -> Self:
        if (self.source == "keyVault") != (self.key_vault is not None):
            raise ValueError("keyVault is needed with source: keyVault, and only then")
        if (self.source == "certManager") != (self.cert_manager is not None):
            raise ValueError("certManager is needed with source: certManager, and only then")
        return self


class GatewayDns(Model):
    """DNS record that resolves `host` to the gateway."""

    zone: HostName = Field(description="Name of the DNS zone that host is in, like contoso.com.")
    resource_group: ResourceGroupName | None = Field(
        default=None,
        description="Resource group of the zone, in the stack's subscription. With scope public a public zone, with"
        " internal a private one that is linked to the cluster's network. Absent, with internal: the stack creates the"
        " zone and links it.",
    )
    address: Address | None = Field(
        default=None,
        description="Address of the load balancer with scope internal, a free one of network.systemSubnet. Absent:"
        " the last usable one.",
    )


class EntraLogin(Model):
    """App registration through which users log in."""

    tenant_id: EntraId = Field(description="Entra tenant.")
    client_id: EntraId = Field(
        description="Client id of the app registration. It must emit groups as roles (optional claim groups with"
        " emit_as_roles). Its secret is the stack's secret osmoOidcClientSecret."
    )


class GatewayLimits(Model):
    """Limits on requests, which the gateway enforces before they reach the service."""

    concurrent_requests: Annotated[int, Field(ge=10, le=10000)] = Field(
        default=100, description="Requests that each gateway Pod has open to the service at a time; others get 503."
    )
    requests_per_minute: Annotated[int, Field(ge=0, le=100000)] = Field(
        default=600,
        description="API requests of one caller, a login or without one an address; more get 429. Each thread of each"
        " gateway Pod counts for itself, so it limits what floods the service, and is no quota. 0: no limit.",
    )
    body_mebibytes: Annotated[int, Field(ge=1, le=1024)] = Field(
        default=32, description="Largest body of an API request; a larger one gets 413."
    )
    header_kibibytes: Annotated[int, Field(ge=32, le=192)] = Field(
        default=96, description="Largest headers of a request together; an Entra token with many groups needs 64."
    )


class OsmoAccess(Model):
    """Access of people, agents and workflows to a control plane of this stack (osmo.mode: platform)."""

    scope: Literal["internal", "public"] = Field(
        default="internal",
        description="internal: a load balancer with an address of the cluster's network. public: one with a public"
        " address; needs tls and a group in roles.",
    )
    host: HostName | None = Field(
        default=None,
        description="DNS name of the gateway, which must resolve to its address for users and in the cluster. Absent:"
        " the name of its Service, for login dev.",
    )
    dns: GatewayDns | None = Field(
        default=None, description="Declares the DNS record of host. Absent: it is maintained outside the stack."
    )
    tls: GatewayTls | None = Field(default=None, description="Certificate; absent, requests are not encrypted.")
    login: Literal["entra", "dev"] = Field(
        default="entra",
        description="entra: OIDC with Entra ID. dev: every caller is an administrator; for scope internal only.",
    )
    entra: EntraLogin | None = Field(default=None, description="Needed with login: entra.")
    roles: dict[OsmoRole, tuple[EntraId, ...]] = Field(
        default_factory=dict[OsmoRole, tuple[EntraId, ...]],
        description="Object ids of the Entra groups that have each of OSMO's roles.",
    )
    admin_password_generation: Generation = Field(
        default=1,
        description="Raise it by one to replace the password of the default administrator; restarts OSMO's service.",
    )
    cookie_key_generation: Generation = Field(
        default=1,
        description="Raise it by one to replace the key of browsers' sessions; restarts the login, and every user logs"
        " in again.",
    )
    limits: GatewayLimits = Field(default_factory=GatewayLimits, description="Limits of the gateway.")
