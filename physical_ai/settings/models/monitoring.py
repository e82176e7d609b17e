"""Settings of logs, metrics, alerts and dashboards."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from parts.traces.model import Traces
from physical_ai.settings.models.base import EntraId, Model, SecretName, written
from physical_ai.settings.models.container_logs import ContainerLogs
from physical_ai.settings.models.pinned import PinnedVersion

ReceiverName = Annotated[
    str, written(r"^[a-z][a-z0-9-]{0,29}$", "a receiver's name: lowercase letters, digits and hyphens")
]
Email = Annotated[str, written(r"^[^\s@<>]+@[^\s@<>]+\.[^\s@<>.]+$", "an e-mail address")]
ActionGroupId = Annotated[
    str,
    written(
        r"^/subscriptions/[^/]+/resource[gG]roups/[^/]+/providers/[mM]icrosoft\.[iI]nsights/action[gG]roups/[^/]+$",
        "the resource id of an action group",
    ),
]
SmtpHost = Annotated[
    str, written(r"^[A-Za-z0-9.-]+:\d{1,5}$", "a mail server with its port, like smtp.contoso.com:587")
]
Address = Annotated[str, written(r"^(https?://\S+|[\w./-]+)/$", "an address that ends with a slash")]
AlertSeverity = Literal["critical", "warning", "info"]
MetricsBackend = Literal["azure", "kube-prometheus", "none"]


def _one_back_end(value: object) -> object:
    if isinstance(value, list | tuple):
        raise ValueError("a stack has one back end for metrics; write azure, kube-prometheus or none")
    return value


def _quota(value: float) -> float:
    if value != -1 and value < 0.023:
        raise ValueError(f"{value} must be -1 or at least 0.023")
    return value


class Receiver(Model):
    """Settings of a receiver of alerts. Exactly one of the e-mail address, the webhook and the action group is set."""

    email: Email | None = Field(default=None, description="An e-mail address.")
    webhook_secret: SecretName | None = Field(
        default=None, description="Stack secret with the URL that alerts are posted to; the URL usually has a token."
    )
    action_group: ActionGroupId | None = Field(
        default=None, description="An existing action group of Azure Monitor; only with metrics: azure."
    )
    severities: tuple[AlertSeverity, ...] = Field(
        default=("critical", "warning"), description="Severities of the alerts that are sent."
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = [name for name in ("email", "webhook_secret", "action_group") if getattr(self, name) is not None]
        if len(kinds) != 1:
            raise ValueError("write exactly one of email, webhookSecret and actionGroup")
        if not self.severities:
            raise ValueError("severities is empty, so nothing would be sent; write [critical], or leave it out")
        return self


class Smtp(Model):
    """Settings of the SMTP server through which Alertmanager sends e-mail. Azure's own alerts do not use the server."""

    host: SmtpHost = Field(description="Server and port.")
    sender: Email = Field(description="Address of the sender.")
    username: str | None = Field(default=None, description="Login; absent: none.")
    password_secret: SecretName | None = Field(default=None, description="Stack secret with the password.")


class GrafanaPrincipal(Model):
    """A person or group with a role in Managed Grafana."""

    principal_id: EntraId = Field(description="Entra object id.")
    principal_type: Literal["User", "Group", "ServicePrincipal"] = Field(
        default="Group", description="Kind of principal."
    )
    role: Literal["admin", "editor", "viewer"] = Field(default="viewer", description="Role in Grafana.")


class Grafana(Model):
    enabled: bool = Field(default=True, description="Installs a Grafana; only with metrics.")
    principals: tuple[GrafanaPrincipal, ...] = Field(
        default=(), description="Users who may log in; only with metrics: azure, where login is through Entra."
    )
    zone_redundant: bool = Field(default=False, description="Managed Grafana in several zones; fixed at creation.")


class RuleOverride(Model):
    """Settings that change the threshold of one alert, or switch the alert off."""

    threshold: float | None = Field(default=None, description="Another threshold, in the unit of the alert.")
    enabled: bool = Field(default=True, description="false omits the alert.")


KUBE_PROMETHEUS = PinnedVersion("kube-prometheus-stack")


class Monitoring(Model):
    retention_days: Annotated[int, Field(ge=30, le=730)] = Field(
        default=30, description="Days Log Analytics keeps logs."
    )
    daily_quota_gb: Annotated[float, AfterValidator(_quota)] = Field(default=-1, description="Daily cap; -1 for none.")
    metrics: Annotated[MetricsBackend, BeforeValidator(_one_back_end)] = Field(
        default="none",
        description="Collector of metrics of GPUs, which evaluates the alerts. azure: Azure Monitor's managed"
        " Prometheus. kube-prometheus: Prometheus and Alertmanager in the cluster. none: nothing does.",
    )
    kube_prometheus_version: Annotated[str, KUBE_PROMETHEUS] = Field(
        default_factory=KUBE_PROMETHEUS.newest,
        description="Version of the chart kube-prometheus-stack; only with kube-prometheus.",
    )
    metrics_retention_days: Annotated[int, Field(ge=1, le=365)] | None = Field(
        default=None,
        description="Days that Prometheus keeps metrics; only with kube-prometheus, where absent is 15. Azure keeps 18"
        " months.",
    )
    scrape_interval_seconds: Annotated[int, Field(ge=15, le=300)] = Field(
        default=30, description="Time between scrapes. The DCGM exporter itself measures every 30 seconds."
    )
    counters: tuple[str, ...] = Field(
        default=(), description="Fields that the DCGM exporter reports beside the default ones."
    )
    receivers: dict[ReceiverName, Receiver] = Field(default_factory=dict, description="Receivers of alerts.")
    smtp: Smtp | None = Field(default=None, description="Mail server; only with kube-prometheus.")
    grafana: Grafana = Field(default_factory=Grafana, description="Dashboards.")
    rules: dict[str, RuleOverride] = Field(
        default_factory=dict, description="Changes of alerts by name; docs/runbooks/alerts.md has the names."
    )
    runbooks: Address = Field(
        default="docs/runbooks/",
        description="Address of your copy of the runbooks; alerts link to alerts.md there.",
    )

    traces: Traces | None = Field(
        default=None,
        description="Destination of the traces of workflows, to which an OpenTelemetry Collector sends them; absent: no"
        " collector.",
    )
    container_logs: ContainerLogs | None = Field(
        default=None, description="Containers whose output Log Analytics keeps, up to dailyQuotaGb; absent: none."
    )

    @property
    def is_measured(self) -> bool:
        """True where metrics are collected."""
        return self.metrics != "none"
