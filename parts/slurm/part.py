"""The Slurm cluster as a part of the platform."""

from __future__ import annotations

from collections.abc import Mapping

from parts.part import CHART_VERSION, GPU_OPERATOR, Part
from parts.slurm import names
from parts.slurm.plan import CLUSTER_OWNED, OPERATOR_OWNED, slurm_plan
from parts.slurm.rules import check_slurm
from physical_ai.catalog.charts import newest_chart
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings


def images(settings: Settings) -> Mapping[str, Path]:
    """Images that the program sets in the values of both Slurm charts, each with the setting that installs Slurm."""
    if settings.slurm is None:
        return {}
    operator = names.operator_images(newest_chart(names.OPERATOR_CHART).version)
    return dict.fromkeys([*operator, *names.daemon_images()], ("slurm",))


PART = Part(
    name="slurm",
    title="Slurm cluster",
    setting=("slurm",),
    resource_type="physical-ai:kubernetes:Slurm",
    resource_name="slurm",
    owned={names.OPERATOR_CHART: OPERATOR_OWNED, names.CLUSTER_CHART: CLUSTER_OWNED},
    wanted=lambda settings: settings.slurm is not None,
    plan=slurm_plan,
    # The Pods of slurmd ask for the GPUs that the operator's device plugin offers.
    needs=(GPU_OPERATOR,),
    offers_gpus=True,
    isolated=True,
    rules=(check_slurm,),
    images=images,
    chart_images={
        names.CLUSTER_CHART: tuple(names.daemon_images()),
        names.OPERATOR_CHART: tuple(names.operator_images(CHART_VERSION)),
    },
    privileged={"slurm": "slurmd confines jobs with the node's cgroups"},
)
