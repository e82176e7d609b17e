"""Settings of the cluster: its Kubernetes versions, its API server, its autoscaler, and its automatic upgrades."""

from __future__ import annotations

import datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from physical_ai.settings.models.base import Cidr, Model, of_azure, written

Weekday = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
UtcOffset = Annotated[str, written(r"^[+-]\d{2}:\d{2}$", 'an offset from UTC in quotes, like "+01:00"')]
KubernetesVersion = Annotated[
    str, written(r"^1\.\d{2}(\.\d{1,2})?$", 'a Kubernetes version in quotes, like "1.36" or "1.36.3"')
]


class ApiAccess(Model):
    """Access to the Kubernetes API server."""

    authorized_ip_ranges: tuple[Cidr, ...] = Field(
        default=(),
        description="Public CIDRs that reach the API server; empty leaves it open to the internet. The"
        " addresses of the NAT gateways are always added when any is set.",
    )
    run_command: bool = Field(
        default=False,
        description="Allow `az aks command invoke`, which runs commands in the cluster from outside of these ranges and"
        " of a private network.",
    )


class Autoscaler(Model):
    """Profile of the cluster autoscaler, in whole minutes, the only unit that AKS accepts."""

    max_node_provision_minutes: Annotated[int, Field(ge=1, le=120)] = Field(
        default=30,
        description="A node without its GPU by then is deleted and recreated; must be longer than a driver build.",
    )
    scale_down_unneeded_minutes: Annotated[int, Field(ge=1, le=240)] = Field(
        default=15, description="Idle time before removal."
    )
    scale_down_delay_after_add_minutes: Annotated[int, Field(ge=1, le=240)] = Field(
        default=15, description="Time after a scale-up before scale-down resumes."
    )


class Window(Model):
    """A maintenance window, weekly or monthly."""

    day: Weekday = Field(description="Day of the week.")
    week: Literal["First", "Second", "Third", "Fourth", "Last"] | None = Field(
        default=None, description="Week of the month, for one window a month; absent: every week."
    )
    start_hour: Annotated[int, Field(ge=0, le=23)] = Field(description="Hour of the day, 0 to 23, in utcOffset.")
    duration_hours: Annotated[int, Field(ge=4, le=24)] = Field(default=4, description="4 to 24.")
    utc_offset: UtcOffset = Field(default="+00:00", description="±HH:MM.")


def _stays_on_its_minor(value: object) -> object:
    if value in ("rapid", "stable"):
        raise ValueError(
            f"'{value}' lets AKS upgrade to the next minor, after which it rejects every update of the cluster as "
            "a downgrade to kubernetesVersion; write patch, node-image or none, and raise kubernetesVersion yourself"
        )
    return value


Channel = Annotated[Literal["patch", "node-image", "none"], BeforeValidator(_stays_on_its_minor)]


def _moment(value: object) -> object:
    """Validates a time, which must have a UTC offset.

    ARM would read a time without an offset as UTC, while the user may have meant local time.
    """
    if isinstance(value, datetime.datetime):  # YAML has parsed the time already
        value = value.isoformat()
    if not isinstance(value, str):
        raise ValueError("write a time, such as 2026-12-01T04:00:00Z")
    try:
        moment = datetime.datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(f"'{value}' is not a time; write one such as 2026-12-01T04:00:00Z") from None
    if moment.tzinfo is None:
        raise ValueError(f"'{value}' lacks the distance to UTC; write {value}Z for UTC")
    return value


Moment = Annotated[str, BeforeValidator(_moment)]


class Upgrades(Model):
    """Settings of automatic upgrades by AKS, and of the times at which they may take place."""

    channel: Channel = Field(
        default="patch", description="Kubernetes: patch and node-image keep the minor of kubernetesVersion."
    )
    node_os_channel: Literal["None", "NodeImage", "SecurityPatch"] = Field(
        default="NodeImage",
        description="Node images. Unmanaged is not offered: in-place kernel patches break built drivers.",
    )
    force_until: Moment | None = Field(
        default=None,
        description="Upgrades that begin before this time, 2026-12-01T04:00:00Z, pass over disruption budgets and drain"
        " each node whatever runs there; after it, they respect them again. Absent: AKS refuses an upgrade while a"
        " budget of the cluster allows no eviction.",
    )
    kubernetes_window: Window = Field(description="Time in which Kubernetes upgrades may start.")
    node_os_window: Window = Field(description="Time in which node images may change; every node is reimaged then.")

    @property
    def forced_until(self) -> datetime.datetime | None:
        """Time until which an upgrade ignores PodDisruptionBudgets; None if no upgrade ignores them."""
        return datetime.datetime.fromisoformat(self.force_until) if self.force_until else None


class Cluster(Model):
    kubernetes_version: KubernetesVersion = Field(
        description="Minor (1.36: AKS picks the patch) or exact version. Of an existing cluster: what it has."
    )
    nodes_version: KubernetesVersion | None = Field(
        default=None,
        description="Version of the node pools, where it differs: at most kubernetesVersion and at most three minors"
        " older. Absent: kubernetesVersion. For upgrades in two steps, the control plane first.",
    )
    azure_tier: Literal["Free", "Standard", "Premium"] | None = Field(
        default=None, alias="tier", description="Control plane tier; Standard has an SLA."
    )
    support_plan: Literal["KubernetesOfficial", "AKSLongTermSupport"] = Field(
        default="KubernetesOfficial",
        description="AKSLongTermSupport: security fixes for a year after the community's support ends; on the tier"
        " Premium.",
    )
    api_access: ApiAccess = Field(default_factory=ApiAccess, description="Reach of the API server.")
    autoscaler: Autoscaler = Field(default_factory=Autoscaler, description="Cluster autoscaler profile.")
    azure_upgrades: Upgrades | None = Field(
        default=None, alias="upgrades", description="Channels and maintenance windows."
    )

    @property
    def long_term(self) -> bool:
        return self.support_plan == "AKSLongTermSupport"

    @property
    def tier(self) -> Literal["Free", "Standard", "Premium"]:
        """Pricing tier of an AKS cluster. Raises NotAzure for an existing cluster."""
        return of_azure("cluster.tier", self.azure_tier)

    @property
    def upgrades(self) -> Upgrades:
        """Upgrade settings of an AKS cluster. Raises NotAzure for an existing cluster."""
        return of_azure("cluster.upgrades", self.azure_upgrades)

    @property
    def pools_version(self) -> str:
        """Kubernetes version of the node pools."""
        return self.nodes_version or self.kubernetes_version
