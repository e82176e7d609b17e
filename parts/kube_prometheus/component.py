"""Prometheus, Alertmanager and Grafana in the cluster, from the chart kube-prometheus-stack."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as kubernetes
import yaml

from components.azure.random_values import RandomPassword
from components.kubernetes.chart_part import ChartPart
from parts.kube_prometheus.names import (
    ALERTMANAGER_KEY,
    ALERTMANAGER_SECRET,
    DASHBOARD_LABEL,
    GRAFANA_PASSWORD_KEY,
    GRAFANA_SECRET,
    GRAFANA_USER_KEY,
    NAMESPACE,
)
from parts.kube_prometheus.plan import alertmanager_config, rules
from physical_ai.settings import Settings
from physical_ai.settings.facts.required_secrets import alert_secrets
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.settings.secrets import Secrets
from physical_ai.telemetry.dashboards.of_stack import of_stack

PASSWORD_LENGTH = 32
"""Number of characters in the password of Grafana's administrator."""


class KubePrometheus(ChartPart):
    """Release of kube-prometheus-stack. Alertmanager's configuration is declared before the release; rules, and
    dashboards that Grafana's sidecar loads, after it. The Pods cannot be reached from outside of the namespace.
    """

    def before(self) -> list[pulumi.Resource]:
        return [*super().before(), self._configuration(), *([self._grafana_login()] if self._has_grafana else [])]

    def after(self) -> None:
        rule = rules(self.args.settings)
        kubernetes.apiextensions.CustomResource(
            f"{self.name}-rules",
            api_version=rule["apiVersion"],
            kind=rule["kind"],
            metadata=rule["metadata"],
            spec=rule["spec"],
            opts=self.options([*self.releases.values()]),
        )
        for dashboard in of_stack(rule_parameters(self.args.settings)) if self._has_grafana else ():
            kubernetes.core.v1.ConfigMap(
                f"{self.name}-dashboard-{dashboard.name}",
                metadata={
                    "name": f"physical-ai-dashboard-{dashboard.name}",
                    "namespace": NAMESPACE,
                    "labels": DASHBOARD_LABEL,
                },
                data={f"{dashboard.name}.json": dashboard.document},
                opts=self.options(self.namespaces(NAMESPACE)),
            )

    @property
    def _has_grafana(self) -> bool:
        return self.args.settings.monitoring.grafana.enabled

    def _configuration(self) -> kubernetes.core.v1.Secret:
        return kubernetes.core.v1.Secret(
            f"{self.name}-alertmanager",
            metadata={"name": ALERTMANAGER_SECRET, "namespace": NAMESPACE},
            string_data={ALERTMANAGER_KEY: _alertmanager(self.args.settings, self.args.secrets)},
            opts=self.options(self.namespaces(NAMESPACE)),
        )

    def _grafana_login(self) -> kubernetes.core.v1.Secret:
        """Declares the Secret of Grafana's administrator.

        Its password is generated once, and then kept, encrypted, in the state.
        """
        password = RandomPassword(
            f"{self.name}-grafana-password", length=PASSWORD_LENGTH, opts=pulumi.ResourceOptions(parent=self)
        )
        options = self.options(self.namespaces(NAMESPACE))
        # Stacks of earlier versions have a password that is nowhere but in the Secret: it stays until the Secret is
        # deleted. Pulumi's Kubernetes provider keeps `stringData` as `data`, so one of the two alone would ignore
        # nothing, or empty the Secret.
        options.ignore_changes = ["data", "stringData"]
        return kubernetes.core.v1.Secret(
            f"{self.name}-grafana-login",
            metadata={"name": GRAFANA_SECRET, "namespace": NAMESPACE},
            string_data={GRAFANA_USER_KEY: "admin", GRAFANA_PASSWORD_KEY: password.result},
            opts=options,
        )


def _alertmanager(settings: Settings, given: Secrets) -> pulumi.Output[str]:
    """Alertmanager's configuration as YAML. The output is secret where a receiver has a secret."""
    names = sorted({name for _, name in alert_secrets(settings.monitoring)})

    def text(values: list[str]) -> str:
        return yaml.safe_dump(alertmanager_config(settings.monitoring, dict(zip(names, values, strict=True))))

    return pulumi.Output.secret(pulumi.Output.all(*(given[name] for name in names)).apply(text))


COMPONENT = KubePrometheus
