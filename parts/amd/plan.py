"""The AMD GPU Operator: values of its chart, and a DeviceConfig for each pool of AMD's GPUs.

A DeviceConfig selects the nodes of its pool by the pool's name, so no node is selected by two DeviceConfigs. The
chart's own DeviceConfig is not used: it selects nodes with the label amd-gpu, but Node Feature Discovery labels Azure's
VMs as amd-vgpu (ROCm/gpu-operator helm-charts-k8s/README.md).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from parts.amd import names
from parts.amd.model import AmdGpuOperator
from parts.part import PartPlan, ReleasePlan
from physical_ai.catalog.charts import newest_chart
from physical_ai.planning.chart_values import chart_values as values_of_chart
from physical_ai.settings.facts.gpu import amd_pools, tolerations_of
from physical_ai.settings.facts.pools import pool_selector, services_selector
from physical_ai.settings.faults import Fault
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings
from physical_ai.telemetry.amd_counters import CONFIG_MAP, KEY, exporter_config

FILE = f"amd/{names.CHART}-values.yaml"
RELEASE = "release"
"""Key of the plan's only release."""
OWNED = {
    "node-feature-discovery": "nothing: the GPU Operator brings it, and two would fight over its labels",
    "kmm.enabled": "amdGpuOperator.driver",
    "kmm.controller.nodeSelector": "cpuPool",
    "kmm.webhookServer.nodeSelector": "cpuPool",
    "crds.defaultCR": "nothing: each pool has a DeviceConfig of its own",
    "installdefaultNFDRule": "nothing: readiness looks for its labels",
    "controllerManager.nodeSelector": "cpuPool",
}
"""Chart keys that the user's values file may not set. Each value names the setting to change instead, or says
why there is none.
"""
TIMEOUT_SECONDS = 1800
ONE_AT_A_TIME = {
    "enable": True,
    "maxParallelUpgrades": 1,
    "rebootRequired": True,
    # Pods end by themselves, as with other drivers of this program: the default evicts by force after five minutes.
    "nodeDrainPolicy": {"force": False, "timeoutSeconds": 0, "gracePeriodSeconds": -1},
}
"""Policy by which nodes get a changed driver: one node at a time."""


@dataclass(frozen=True)
class RegistryLogin:
    """Login to the registry with which built drivers are pushed and pulled."""

    server: str
    user: str
    secret: str
    """Name of the stack's secret with the password."""

    def document(self, password: str) -> str:
        """The login as JSON in Docker's format, for a Secret of type kubernetes.io/dockerconfigjson."""
        auth = base64.b64encode(f"{self.user}:{password}".encode()).decode()
        return json.dumps({"auths": {self.server: {"username": self.user, "password": password, "auth": auth}}})


@dataclass(frozen=True)
class AmdPlan(PartPlan):
    """Plan of `amdGpuOperator`: the release, and after it a DeviceConfig for each pool."""

    login: RegistryLogin = field(kw_only=True)
    exporter: Mapping[str, str] = field(kw_only=True)
    """Data of the exporter's ConfigMap."""

    @property
    def configs(self) -> Mapping[str, Mapping[str, Any]]:
        """`spec` of each DeviceConfig, by pool."""
        return {each["metadata"]["name"]: each["spec"] for each in self.after}


def amd_plan(settings: Settings, root: FilePath) -> tuple[AmdPlan | None, list[Fault]]:
    """Plan of the part for a stack, and the faults of the user's values file; the plan is None without
    `amdGpuOperator`."""
    given = settings.amd_gpu_operator
    if given is None:
        return None, []
    pinned = newest_chart(names.CHART)
    values, faults = values_of_chart(root, FILE, pinned, OWNED, chart_values(settings))
    release = ReleasePlan(
        key=RELEASE,
        name=names.RELEASE,
        namespaces=(names.NAMESPACE,),
        chart=pinned,
        values=values,
        timeout_seconds=TIMEOUT_SECONDS,
    )
    configs = (
        {
            "apiVersion": names.API_VERSION,
            "kind": names.KIND,
            "metadata": {"name": name, "namespace": names.NAMESPACE},
            "spec": device_config(settings, given, name, pool),
        }
        for name, pool in amd_pools(settings).items()
    )
    driver = given.driver
    login = RegistryLogin(driver.image.partition("/")[0], driver.registry_user, driver.registry_secret)
    plan = AmdPlan((release,), after=tuple(configs), login=login, exporter={KEY: exporter_config()})
    return plan, list(dict.fromkeys(faults))


def chart_values(settings: Settings) -> dict[str, Any]:
    """Values that the program sets in the operator's chart, before the user's values file is added."""
    # The chart prefers a control-plane node, and AKS has no such nodes in the cluster.
    selector = services_selector(settings)
    on_cpu_pool: dict[str, Any] = {"nodeSelector": selector}
    return {
        "node-feature-discovery": {"enabled": False},
        "kmm": {"enabled": True, "controller": on_cpu_pool, "webhookServer": on_cpu_pool},
        "installdefaultNFDRule": True,
        "crds": {"defaultCR": {"install": False, "upgrade": False}},
        "controllerManager": {"nodeSelector": selector},
    }


def device_config(settings: Settings, given: AmdGpuOperator, name: str, pool: Pool) -> dict[str, Any]:
    """`spec` of a pool's DeviceConfig (helm-charts-k8s/templates/default-deviceconfig.yaml)."""
    tolerations = tolerations_of(settings, [pool])
    plugin: dict[str, Any] = {
        "enableNodeLabeller": True,
        "devicePluginTolerations": tolerations,
        "nodeLabellerTolerations": tolerations,
    }
    images = {"devicePluginImage": given.device_plugin_image, "nodeLabellerImage": given.node_labeller_image}
    plugin |= {key: image for key, image in images.items() if image is not None}
    return {
        "selector": pool_selector(name, pool),
        "driver": {
            "enable": True,
            # A module of the node image must not be loaded before the built one.
            "blacklist": True,
            "version": given.driver.version,
            "image": given.driver.image,
            "imageRegistrySecret": {"name": names.REGISTRY_SECRET},
            "tolerations": tolerations,
            "upgradePolicy": ONE_AT_A_TIME,
        },
        "devicePlugin": plugin,
        "metricsExporter": {
            "enable": settings.monitoring.is_measured,
            "serviceType": "ClusterIP",
            "port": names.METRICS_PORT,
            "tolerations": tolerations,
            "config": {"name": CONFIG_MAP},
            # Scraped like the other exporters: the operator's monitor says neither the node nor an interval.
            "prometheus": {"serviceMonitor": {"enable": False}},
        },
        "testRunner": {"enable": False},
        "configManager": {"enable": False},
    }
