"""The labeler (labeler/pkg). Its labels tell which of NVSentinel's monitors a node needs, according to the Pods of the
GPU stack on the node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from simulator.cluster.objects import Json, at, is_ready, labels, name
from simulator.gpu.driver import COMPONENT, DRIVER_COMPONENT
from simulator.nvsentinel.names import GPU_NODE_LABEL

PREFIX = "nvsentinel.dgxc.nvidia.com"
DRIVER, DCGM, KATA = f"{PREFIX}/driver.installed", f"{PREFIX}/dcgm.version", f"{PREFIX}/kata.enabled"
DCGM_APP = ("app", "nvidia-dcgm")
DCGM_MAJOR = "4.x"
"""Major version of DCGM in every modelled release of the GPU Operator."""


def wanted_labels(node: Json, pods: Iterable[Mapping[str, Any]], *, assume_driver: bool) -> dict[str, str | None]:
    """Label changes of the node; None removes a label.

    Args:
        pods: Running Pods of all nodes.
        assume_driver: Value of `labeler.assumeDriverInstalled`. If it is True, the driver counts as installed even
            without a driver Pod.
    """
    given = labels(node)
    is_gpu = given.get(GPU_NODE_LABEL[0]) == GPU_NODE_LABEL[1]
    here = [labels(pod) for pod in pods if at(pod, "spec.nodeName") == name(node) and is_ready(pod)]
    driver = assume_driver or any(each.get(COMPONENT) == DRIVER_COMPONENT for each in here)
    dcgm = any(each.get(DCGM_APP[0]) == DCGM_APP[1] for each in here)
    wanted: dict[str, str | None] = {
        DRIVER: "true" if is_gpu and driver else None,
        DCGM: DCGM_MAJOR if is_gpu and dcgm else None,
        KATA: "false" if is_gpu else None,
    }
    return {key: value for key, value in wanted.items() if given.get(key) != value}
