"""Advice for chart values that a user wrote among the settings: the values file in which they belong.

>>> file_of(("gpuOperator", "nfd"))
'values/gpu-operator/values.yaml'
>>> file_of(("slurm", "nodesets"))
'parts/slurm/slurm-values.yaml'
"""

from __future__ import annotations

from collections.abc import Mapping

from physical_ai.catalog import pinned_charts
from physical_ai.catalog.charts import keys_file
from physical_ai.catalog.compat import known_keys
from physical_ai.catalog.compat.tables import key_table
from physical_ai.repository import PART_FOLDERS
from physical_ai.settings.layers.paths import Path

GPU_OPERATOR = "gpu-operator"
_PARTS: Mapping[tuple[str, ...], tuple[tuple[str, str, str], ...]] = {
    (): (("kube-prometheus-stack", "kube-prometheus-stack", ""), (GPU_OPERATOR, GPU_OPERATOR, "")),
    ("gpuOperator",): ((GPU_OPERATOR, GPU_OPERATOR, ""),),
    ("gpuOperator", "toolkit"): ((GPU_OPERATOR, GPU_OPERATOR, "toolkit."),),
    ("gpuOperator", "driver"): ((GPU_OPERATOR, GPU_OPERATOR, "driver."),),
    ("networkOperator",): (("network-operator", "network-operator", ""),),
    ("amdGpuOperator",): (("gpu-operator-charts", "gpu-operator-charts", ""),),
    ("dra",): (("dra-driver-nvidia-gpu", "dra-driver-nvidia-gpu", ""),),
    ("health",): (("nvsentinel", "nvsentinel", ""),),
    ("monitoring",): (("kube-prometheus-stack", "kube-prometheus-stack", ""),),
    ("monitoring", "grafana"): (("kube-prometheus-stack", "kube-prometheus-stack", "grafana."),),
    ("monitoring", "traces"): (("opentelemetry-collector", "opentelemetry-collector", ""),),
    ("osmo",): (("service", "osmo/service", ""), ("backend-operator", "osmo/backend-operator", "")),
    ("slurm",): (("slurm", "slurm", ""), ("slurm-operator", "slurm-operator", "")),
    ("runners",): (("gha-runner-scale-set-controller", "gha-runner-scale-set-controller", ""),),
    ("storage", "longhorn"): (("longhorn", "longhorn", ""),),
    ("loadBalancer", "metallb"): (("metallb", "metallb", ""),),
}
"""Charts whose values users may mistake for settings, by the section of the settings in which users may write the
values.

Each chart is a tuple: the chart's name, its folder or file below `values/`, and the section of its values. For a chart
of a part, the file is in the part's folder.
"""


def file_of(path: Path) -> str | None:
    """Values file for the chart value that was written at this path of the settings; None if it is no known chart
    value.
    """
    section, key = tuple(map(str, path[:-1])), str(path[-1])
    if len(section) == 2 and section[0] == "pools" and key == "devicePlugin":
        return f"values/{GPU_OPERATOR}/pools/{section[1]}.yaml"
    for chart, file, prefix in _PARTS.get(section, ()):
        if key in ("values", chart) or f"{prefix}{key}" in _sections(chart):
            return _file(chart, file)
    return None


def _file(chart: str, below: str) -> str:
    folder = keys_file(chart).parent
    if folder.parent in PART_FOLDERS:
        return f"parts/{folder.name}/{chart}-values.yaml"
    return f"values/{below}.yaml" if "/" in below else f"values/{below}/values.yaml"


def _sections(chart: str) -> set[str]:
    """Keys of a chart's values, and all sections that contain them."""
    known: set[str] = set()
    for name, version in pinned_charts():
        if name == chart:
            keys = known_keys(version) if chart == GPU_OPERATOR else key_table(chart, version).known
            known |= keys.keys()
    return known | {path[:end] for path in known for end, letter in enumerate(path) if letter == "."}
