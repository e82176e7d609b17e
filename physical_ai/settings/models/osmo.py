"""Settings of OSMO: the components that a stack installs, and the OSMO platform of each pool."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from parts.network_operator.network_model import NetworkName
from physical_ai.settings.models.base import EntraId, Model, PlatformName, written
from physical_ai.settings.models.osmo_access import OsmoAccess

Timeout = Annotated[str, written(r"^[1-9]\d{0,5}[smhd]$", "a time with its unit, like 90s, 15m, 12h or 5d")]
"""Duration, as one number and one unit. OSMO reads no other form."""
ServedStack = Annotated[str, written(r"^[a-z][a-z0-9]*-[a-z0-9]+$", "the name of a stack, like prod-eastus")]
HostPath = Annotated[str, written(r"^/[^:\s]*$", "an absolute path without spaces and colons, like /mnt/data")]
Gpus = Annotated[int, Field(ge=-1, le=10000)]


class Quota(Model):
    """GPU quota of a scheduling queue. KAI applies the quotas only if every pool has one."""

    guarantee: Gpus = Field(default=-1, description="GPUs that workflows of priority NORMAL and HIGH may use; -1: all.")
    maximum: Gpus = Field(default=-1, description="GPUs that all workflows together may use; -1: all.")
    weight: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=1, description="Share of what is free beyond the guarantees."
    )


class OsmoPlatform(Model):
    """Overrides of the OSMO platform that is derived from a pool."""

    name: PlatformName | None = Field(
        default=None, description="Absent: from the GPU, such as h100; from the pool where another has that name."
    )
    quota: Quota = Field(default_factory=Quota, description="GPUs of its queue; needs queues: perPool.")
    checkpoint_seconds: Annotated[int, Field(ge=1, le=7200)] | None = Field(
        default=None,
        description="Time that a task has to write and upload a checkpoint when its node is drained: from SIGTERM to"
        " SIGKILL. Absent: 60. A Spot machine ends 30 s after its notice.",
    )
    rdma: bool = Field(
        default=False,
        description="Tasks get InfiniBand adapters of their node, NCCL's variables for them, and the topology file; for"
        " a pool with fabric: infiniband.",
    )
    networks: tuple[NetworkName, ...] = Field(
        default=(), description="Tasks get an interface on each of these networks of networkOperator.networks."
    )
    privileged: bool = Field(
        default=False, description="Tasks may be privileged; the workflows' namespace refuses them at level baseline."
    )
    host_network: bool = Field(
        default=False, description="Tasks may use the node's network; refused at level baseline, as privileged is."
    )
    mounts: tuple[HostPath, ...] = Field(
        default=(), description="Folders of the node that tasks may mount; refused at level baseline."
    )


class OsmoTimeouts(Model):
    """Time limits for a workflow's waiting and running. A workflow's own values apply up to the maximum."""

    exec_default: Timeout = Field(default="8h", description="Running time of a workflow that sets none.")
    exec_max: Timeout = Field(default="3d", description="Longest running time; a hung simulation ends with it.")
    queue_default: Timeout = Field(default="4h", description="Waiting time of a workflow that sets none.")
    queue_max: Timeout = Field(default="2d", description="Longest waiting time.")


class TokenFrom(Model):
    """Key vault in the control plane's stack that holds the agents' token. The values are in that stack's output
    `osmo.served`.
    """

    vault: Annotated[
        str,
        written(r"^https://[a-z0-9-]{3,24}\.vault\.azure\.net/?$", "a vault's address: https://NAME.vault.azure.net"),
    ] = Field(description="Address of its vault.")
    identity: Annotated[
        str,
        written(
            r"^/subscriptions/[^/]+/resource[gG]roups/[^/]+/providers/Microsoft\.ManagedIdentity/userAssignedIdentities/[^/]+$",
            "the ARM id of a user-assigned identity",
        ),
    ] = Field(description="ARM id of the identity that may read this one secret; in the stack's subscription.")
    client_id: EntraId = Field(description="Client id of that identity.")


class Osmo(Model):
    """Settings of NVIDIA OSMO, which runs workflows on the pools."""

    image_tag: Literal["6.3.0", "6.3.1"] = Field(
        default="6.3.1",
        description="Release of OSMO's images, in quotes. It can be raised later, and not lowered where the stack has"
        " the control plane.",
    )

    mode: Literal["namespaces", "backend", "platform"] = Field(
        default="namespaces",
        description="namespaces: the prerequisites of OSMO only. backend: also scheduler and agents, for a"
        " control plane elsewhere, at serviceUrl. platform: the control plane too, on the stack's dataServices.",
    )
    service_url: (
        Annotated[str, written(r"^https?://[^\s/]+(/\S*)?$", "the address of a service, like https://osmo.example.com")]
        | None
    ) = Field(
        default=None,
        description="Address of the control plane that the agents work for; until there is one, they are left out."
        " With mode platform it follows from access.",
    )
    access: OsmoAccess = Field(
        default_factory=OsmoAccess, description="Access of users to the control plane, with mode platform."
    )
    backends: tuple[ServedStack, ...] = Field(
        default=(),
        description="Stacks of mode backend that this control plane serves beside its own cluster; their backendName,"
        " pools and platforms come from their own settings.",
    )
    login: Literal["token", "dev"] = Field(
        default="token",
        description="Login of the agents. token: one that the service has created. dev: as anyone, without a secret;"
        " only against a control plane that trusts every caller.",
    )
    token_rotation: Annotated[
        str,
        written(
            r"^[A-Za-z0-9]([A-Za-z0-9_-]{0,30}[A-Za-z0-9])?$",
            "a word of at most 32 letters, digits, hyphens and underscores, like 2026-12",
        ),
    ] = Field(
        default="1",
        description="Rotation of the agents' token, which the deployment creates with mode platform: another value"
        " creates a new token; the previous one remains valid until the next rotation.",
    )
    token_from: TokenFrom | None = Field(
        default=None,
        description="Vault of the agents' token with mode backend: that of the stack that has the control plane and"
        " names this one in osmo.backends. tokenRotation then has that stack's value.",
    )
    token_days: Annotated[int, Field(ge=2, le=365)] = Field(
        default=180, description="Days for which a token that the deployment creates is valid."
    )
    backend_name: Annotated[
        str,
        written(
            r"^[a-z][a-z0-9-]{0,40}$",
            "a backend's name: at most 41 lowercase letters, digits and hyphens, beginning with a letter",
        ),
    ] = Field(default="default", description="Name of this cluster in the control plane.")
    queues: Literal["shared", "perPool"] = Field(
        default="shared",
        description="shared: one OSMO pool with all platforms, so that a workflow may use several. perPool: one for"
        " each GPU pool, with its own queue and GPU quota.",
    )
    platforms: dict[str, OsmoPlatform] = Field(
        default_factory=dict, description="Platforms that differ from what follows from their pool, by the pool's name."
    )
    gpu_quota: Annotated[int, Field(ge=0, le=100000)] | None = Field(
        default=None,
        description="Maximum GPUs that Pods in osmo-workflows request together, including Pods that wait for a node."
        " Absent: four times what the pools can have.",
    )
    timeouts: OsmoTimeouts = Field(default_factory=OsmoTimeouts, description="Time limits of workflows.")
    max_tasks: Annotated[int, Field(ge=1, le=1000)] = Field(default=100, description="Most tasks of a workflow.")
    rsync: bool = Field(
        default=False,
        description="Users may copy files between their machine and /osmo/run/workspace of a running task"
        " (`osmo workflow rsync`), at 2.5 MB/s at most each way.",
    )
    retries: Annotated[int, Field(ge=0, le=20)] = Field(
        default=3,
        description="Number of times that a task's exit action RESCHEDULE restarts it; 0 disables that action.",
    )

    @property
    def installs_backend(self) -> bool:
        """True where the stack installs OSMO's scheduler and agents."""
        return self.mode in ("backend", "platform")

    @property
    def installs_service(self) -> bool:
        """True where the stack installs OSMO's control plane."""
        return self.mode == "platform"

    @property
    def has_service_elsewhere(self) -> bool:
        """True where the agents work for a control plane outside the cluster."""
        return self.mode == "backend"

    @property
    def creates_token(self) -> bool:
        """True where the deployment creates the agents' token."""
        return self.installs_service and self.login == "token"

    @property
    def fetches_token(self) -> bool:
        """True where the deployment fetches the agents' token from another stack's vault."""
        return self.has_service_elsewhere and self.login == "token" and self.token_from is not None

    @property
    def needs_token(self) -> bool:
        """True where the agents' token has to be among the stack's secrets."""
        return self.has_service_elsewhere and self.login == "token" and self.token_from is None
