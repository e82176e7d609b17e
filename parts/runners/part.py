"""GitHub runners as a part of the platform."""

from __future__ import annotations

from collections.abc import Mapping

from parts.part import Part
from parts.runners import names
from parts.runners.facts import RUNNERS as SETTING
from parts.runners.facts import runner_image, runner_secrets
from parts.runners.plan import CONTROLLER_OWNED, SCALE_SET_OWNED, runners_plan
from parts.runners.rules import check_runners
from physical_ai.catalog.images import image
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings


def images(settings: Settings) -> Mapping[str, Path]:
    """Image of the runners, which the program sets in the values of the scale set's chart, with the setting that
    installs runners.
    """
    return {runner_image(settings.runners): SETTING} if settings.runners is not None else {}


PART = Part(
    name="runners",
    title="GitHub runners",
    setting=SETTING,
    resource_type="physical-ai:kubernetes:Runners",
    resource_name="github",
    owned={names.CONTROLLER_CHART: CONTROLLER_OWNED, names.SCALE_SET_CHART: SCALE_SET_OWNED},
    wanted=lambda settings: settings.runners is not None,
    plan=runners_plan,
    stage="cluster",
    isolated=True,
    azure_rules=(check_runners,),
    images=images,
    chart_images={names.SCALE_SET_CHART: (image(names.IMAGE).at(names.REGISTRY),)},
    secrets=runner_secrets,
)
