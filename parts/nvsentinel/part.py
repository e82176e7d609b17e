"""NVSentinel as a part of the platform."""

from __future__ import annotations

from collections.abc import Iterator

from parts.nvsentinel.names import CHART, METRICS_PORT, NAMESPACE
from parts.nvsentinel.plan import OWNED, is_wanted, nvsentinel_plan
from parts.part import GPU_OPERATOR, Part
from physical_ai.planning.exporters import Exporter
from physical_ai.settings.facts import health
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings


def secrets(settings: Settings) -> Iterator[tuple[Path, str]]:
    """The setting `health.datastoreSecret`, with the name of the secret that it contains; nothing if the setting is
    absent, or the health mode is `alert` or `detect`.
    """
    if settings.health.datastore_secret is not None and health.reaches(settings, "taint"):
        yield ("health", "datastoreSecret"), settings.health.datastore_secret


MONITORS = Exporter(NAMESPACE, {}, METRICS_PORT, METRICS_PORT, namespace=NAMESPACE, has_monitor=True)
"""Exporter for the metrics of all of NVSentinel's Pods."""

PART = Part(
    name="nvsentinel",
    title="NVSentinel",
    setting=("health", "mode"),
    resource_type="physical-ai:kubernetes:Nvsentinel",
    resource_name="nvsentinel",
    owned={CHART: OWNED},
    wanted=is_wanted,
    plan=nvsentinel_plan,
    # NVSentinel reads the GPU Operator's DCGM, and the kind of its PodMonitor is brought by Prometheus' release.
    needs=(GPU_OPERATOR, "kube_prometheus"),
    exporters=lambda _settings: (MONITORS,),
    secrets=secrets,
    privileged={"nvsentinel": "its monitors read the journal of the node"},
)
