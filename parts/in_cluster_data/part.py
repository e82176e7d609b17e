"""Data services in the cluster as a part of the platform."""

from __future__ import annotations

from parts.in_cluster_data.facts import in_cluster
from parts.in_cluster_data.plan import in_cluster_plan
from parts.in_cluster_data.rules import SETTING, check_in_cluster
from parts.part import Part

PART = Part(
    name="in_cluster_data",
    title="data services in the cluster",
    setting=SETTING,
    resource_type="physical-ai:kubernetes:InClusterData",
    resource_name="data",
    owned={},
    wanted=lambda settings: in_cluster(settings) is not None,
    plan=in_cluster_plan,
    stage="services",
    rules=(check_in_cluster,),
)
