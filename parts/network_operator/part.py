"""NVIDIA's Network Operator as a part of the platform."""

from __future__ import annotations

from parts.network_operator import names
from parts.network_operator.plan import OWNED, network_operator_plan
from parts.network_operator.rules import check_pod_networks
from parts.part import GPU_OPERATOR, Part

PART = Part(
    name="network_operator",
    title="NVIDIA Network Operator",
    setting=("networkOperator",),
    resource_type="physical-ai:kubernetes:NetworkOperator",
    resource_name="network-operator",
    owned={names.CHART: OWNED},
    wanted=lambda settings: settings.network_operator is not None,
    plan=network_operator_plan,
    # The GPU Operator brings Node Feature Discovery; the chart creates an object of its kind NodeFeatureRule.
    needs=(GPU_OPERATOR,),
    rules=(check_pod_networks,),
    privileged={
        "network-operator": "its operands load the driver of the network cards and write the configuration of CNI"
    },
)
