"""Prometheus, Alertmanager and Grafana in the cluster, from the chart kube-prometheus-stack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes
import yaml

from components.azure.random_values import RandomPassword
from components.kubernetes.charts import InstalledRelease, release_options
from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.objects import declare
from physical_ai.catalog.monitoring import (
    ALERTMANAGER_KEY,
    ALERTMANAGER_SECRET,
    DASHBOARD_LABEL,
    GRAFANA_PASSWORD_KEY,
    GRAFANA_SECRET,
    GRAFANA_USER_KEY,
    NAMESPACE,
    RELEASE,
)
from physical_ai.planning import manifests
from physical_ai.planning.kube_prometheus import KubePrometheusPlan, alertmanager_config
from physical_ai.settings import Settings
from physical_ai.settings.facts.required_secrets import alert_secrets
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.settings.secrets import Secrets
from physical_ai.telemetry.dashboards.of_stack import of_stack

TIMEOUT_SECONDS = 900
PASSWORD_LENGTH = 32
"""Characters of the password of Grafana's administrator."""


@dataclass(frozen=True)
class KubePrometheusArgs:
    target: ClusterTarget
    namespace: kubernetes.core.v1.Namespace
    settings: Settings
    plan: KubePrometheusPlan
    secrets: Secrets


class KubePrometheus(pulumi.ComponentResource):
    """The release, Alertmanager's configuration before it, the rules after it, and dashboards, which Grafana's sidecar
    loads. It is not reachable from outside of the namespace.

    Attributes:
        release: brings the kinds of monitors and rules.
        installed: the release by its name.
    """

    release: kubernetes.helm.v3.Release
    installed: Mapping[str, InstalledRelease]

    def __init__(self, name: str, args: KubePrometheusArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:KubePrometheus", name, {}, opts)
        policies = declare(name, self, args.target, manifests.load("monitoring.yaml"), after=[args.namespace])
        config = kubernetes.core.v1.Secret(
            f"{name}-alertmanager",
            metadata={"name": ALERTMANAGER_SECRET, "namespace": NAMESPACE},
            string_data={ALERTMANAGER_KEY: _alertmanager(args.settings, args.secrets)},
            opts=args.target.options(self, [args.namespace]),
        )
        login = [_grafana_login(name, args, self)] if args.settings.monitoring.grafana.enabled else []
        self.release = kubernetes.helm.v3.Release(
            f"{name}-release",
            name=RELEASE,
            namespace=NAMESPACE,
            **release_options(args.plan.chart, args.settings.charts.source),
            values=args.plan.values,
            timeout=TIMEOUT_SECONDS,
            opts=args.target.options(self, [args.namespace, config, *login, *policies]),
        )
        kubernetes.apiextensions.CustomResource(
            f"{name}-rules",
            api_version=args.plan.rule["apiVersion"],
            kind=args.plan.rule["kind"],
            metadata=args.plan.rule["metadata"],
            spec=args.plan.rule["spec"],
            opts=args.target.options(self, [self.release]),
        )
        shown = of_stack(rule_parameters(args.settings)) if args.settings.monitoring.grafana.enabled else ()
        for dashboard in shown:
            kubernetes.core.v1.ConfigMap(
                f"{name}-dashboard-{dashboard.name}",
                metadata={
                    "name": f"physical-ai-dashboard-{dashboard.name}",
                    "namespace": NAMESPACE,
                    "labels": DASHBOARD_LABEL,
                },
                data={f"{dashboard.name}.json": dashboard.document},
                opts=args.target.options(self, [args.namespace]),
            )
        self.installed = {RELEASE: InstalledRelease(self.release, args.plan.chart.version, NAMESPACE)}
        self.register_outputs({"version": args.plan.chart.version})


def _grafana_login(name: str, args: KubePrometheusArgs, parent: pulumi.Resource) -> kubernetes.core.v1.Secret:
    """A password that is generated once, and then kept in the state, encrypted."""
    password = RandomPassword(
        f"{name}-grafana-password", length=PASSWORD_LENGTH, opts=pulumi.ResourceOptions(parent=parent)
    )
    options = args.target.options(parent, [args.namespace])
    # Stacks of earlier versions have a password that is nowhere but in the Secret: it stays until that is deleted.
    # The plugin keeps `stringData` as `data`, so one of the two alone would ignore nothing, or empty the Secret.
    options.ignore_changes = ["data", "stringData"]
    return kubernetes.core.v1.Secret(
        f"{name}-grafana-login",
        metadata={"name": GRAFANA_SECRET, "namespace": NAMESPACE},
        string_data={GRAFANA_USER_KEY: "admin", GRAFANA_PASSWORD_KEY: password.result},
        opts=options,
    )


def _alertmanager(settings: Settings, given: Secrets) -> pulumi.Output[str]:
    """The configuration as YAML. Secret as soon as a receiver has one."""
    names = sorted({name for _, name in alert_secrets(settings.monitoring)})

    def text(values: list[str]) -> str:
        return yaml.safe_dump(alertmanager_config(settings.monitoring, dict(zip(names, values, strict=True))))

    return pulumi.Output.secret(pulumi.Output.all(*(given[name] for name in names)).apply(text))
