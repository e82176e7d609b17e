"""Admission policy for GPU nodes: it concerns Pods on GPU nodes that request no GPU, and the cluster's own priority
classes.
"""

from __future__ import annotations

import copy
import json
from typing import Any

from physical_ai.planning import gpu_admission, manifests, pod_security
from physical_ai.settings.facts.labels import split_taint
from physical_ai.settings.facts.pools import gpu_taint
from physical_ai.settings.models.tree import Settings


def gpu_node_policies(settings: Settings) -> list[dict[str, Any]]:
    """The admission policy for GPU nodes, and its binding. Empty with `admission.gpuPods: off`."""
    action = settings.admission.gpu_pods
    if action == "off":
        return []
    policy, binding = copy.deepcopy(manifests.load("gpu-nodes.yaml"))
    # A namespace whose Pods may have the rights of their node belongs to agents that run on every node.
    exempt = list(dict.fromkeys([*gpu_admission.exempt(settings), *pod_security.exempt(settings)]))
    names = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": exempt}
    policy["spec"]["matchConstraints"]["namespaceSelector"] = {"matchExpressions": [names]}
    policy["spec"]["failurePolicy"] = "Fail" if action == "deny" else "Ignore"
    for variable in policy["spec"]["variables"]:
        if variable["name"] == "keys":
            # The JSON text serves as CEL text: JSON strings have the same syntax in CEL.
            variable["expression"] = json.dumps(gpu_taint_keys(settings))
    binding["metadata"]["name"] += f"-{action}"
    binding["spec"]["validationActions"] = list(gpu_admission.ACTIONS[action])
    return [policy, binding]


def gpu_taint_keys(settings: Settings) -> list[str]:
    """Keys of the program's own taints, which keep GPU nodes for GPU work; taints that a pool adds are not among
    them.
    """
    return sorted({split_taint(gpu_taint(pool))[0] for pool in settings.pools.values()})
