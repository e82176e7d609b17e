"""NVIDIA's DRA driver and the claims of a stack as a part of the platform."""

from __future__ import annotations

from parts.dra.claim_rules import check_claims
from parts.dra.facts import claim_pools
from parts.dra.names import CHART
from parts.dra.plan import OWNED, claimed_node_policies, dra_plan
from parts.dra.rules import check_dra
from parts.part import GPU_OPERATOR, Part

PART = Part(
    name="dra",
    title="DRA driver for NVIDIA GPUs",
    setting=("pools",),
    resource_type="physical-ai:kubernetes:DraDriver",
    resource_name="dra-driver",
    owned={CHART: OWNED},
    wanted=lambda settings: bool(claim_pools(settings)),
    plan=dra_plan,
    # It brings Node Feature Discovery, which labels the nodes that the chart selects.
    needs=(GPU_OPERATOR,),
    offers_gpus=True,
    node_policies=claimed_node_policies,
    rules=(check_dra, check_claims),
)
