"""AMD's GPU Operator as a part of the platform."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from parts.amd import names
from parts.amd.plan import OWNED, amd_plan
from parts.amd.rules import check_amd
from parts.part import CHART_VERSION, GPU_OPERATOR, Part
from physical_ai.catalog.charts import newest_chart
from physical_ai.planning.exporters import Exporter
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings

SETTING: Path = ("amdGpuOperator",)


def images(settings: Settings) -> Mapping[str, Path]:
    """Images that the chart and the operator use, each with the setting that it depends on. Settings can replace two of
    them: device plugin and node labeller.
    """
    given = settings.amd_gpu_operator
    if given is None:
        return {}
    return {
        **dict.fromkeys(names.images(newest_chart(names.CHART).version), SETTING),
        given.device_plugin_image or names.PLUGIN_IMAGE: (*SETTING, "devicePluginImage"),
        given.node_labeller_image or names.LABELLER_IMAGE: (*SETTING, "nodeLabellerImage"),
    }


def secrets(settings: Settings) -> Iterator[tuple[Path, str]]:
    """Name of the secret with the password for the registry of built drivers, with the setting that names the
    secret.
    """
    if settings.amd_gpu_operator is not None:
        yield (*SETTING, "driver", "registrySecret"), settings.amd_gpu_operator.driver.registry_secret


EXPORTER = Exporter(
    "amd-metrics-exporter",
    {"app.kubernetes.io/name": "metrics-exporter"},
    "exporter-port",
    names.METRICS_PORT,
    # Labels of Slurm's jobs, of processes, and of a GPU's description.
    "job_.+|kfd_process_id|hostname|card_model|deployment_mode|gpu_(compute|memory)_partition_type",
    namespace=names.NAMESPACE,
)
"""Metrics exporter of AMD's GPU Operator. Source of labels and port: ROCm/gpu-operator
internal/metricsexporter/metricsexporter.go.
"""

PART = Part(
    name="amd",
    title="AMD GPU Operator",
    setting=SETTING,
    resource_type="physical-ai:kubernetes:AmdOperator",
    resource_name="amd-operator",
    owned={names.CHART: OWNED},
    wanted=lambda settings: settings.amd_gpu_operator is not None,
    plan=amd_plan,
    # Node Feature Discovery, and the kind of the rule that the chart adds to it, are of the GPU Operator's release. The
    # webhook's certificate is cert-manager's, which others may have installed.
    needs=(GPU_OPERATOR, "cert_manager"),
    offers_gpus=True,
    rules=(check_amd,),
    images=images,
    chart_images={names.CHART: (*names.images(CHART_VERSION), names.PLUGIN_IMAGE, names.LABELLER_IMAGE)},
    floating_images={
        names.PLUGIN_IMAGE: "the chart's own default: name another in amdGpuOperator.devicePluginImage",
        names.LABELLER_IMAGE: "the chart's own default: name another in amdGpuOperator.nodeLabellerImage",
    },
    exporters=lambda _settings: (EXPORTER,),
    secrets=secrets,
    privileged={"kube-amd-gpu": "its operands load the driver and mount the devices of the host"},
)
