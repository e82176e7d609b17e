"""Files of a new optional part, with words between @ and @ that `part_skeleton` replaces."""

from __future__ import annotations

from collections.abc import Mapping

FILES: Mapping[str, str] = {
    "__init__.py": '''"""‹What the part is, with a noun.›"""
''',
    "model.py": '''"""Settings of the part @NAME@: `@SETTING@`."""

from __future__ import annotations

from physical_ai.settings.models.base import Model


class @CLASS@(Model):
    """‹What is installed, in one sentence with a noun.›"""


SETTINGS = @CLASS@
''',
    "plan.py": '''"""Values of the chart @CHART@, and the release that the part installs."""

from __future__ import annotations

from pathlib import Path as FilePath
from typing import Any

from parts.@NAME@.model import @CLASS@
from parts.part import PartPlan, Planned, ReleasePlan
from physical_ai.catalog.charts import newest_chart
from physical_ai.planning.chart_values import chart_values as values_of_chart
from physical_ai.settings.facts.pools import services_placement
from physical_ai.settings.models.tree import Settings

CHART, RELEASE, NAMESPACE = "@CHART@", "@CHART@", "@CHART@"
OWNED = {"nodeSelector": "cpuPool", "tolerations": "cpuPool"}
"""Keys that the file of values may not set, with what to change instead."""


def is_wanted(settings: Settings) -> bool:
    """Condition on which a stack installs the part."""
    return settings.parts.of(@CLASS@) is not None


def @NAME@_plan(settings: Settings, root: FilePath) -> Planned:
    """The plan of a stack, and the faults of its file of values; None without `@SETTING@`."""
    if not is_wanted(settings):
        return None, []
    pinned = newest_chart(CHART)
    values, faults = values_of_chart(root, f"@NAME@/{CHART}-values.yaml", pinned, OWNED, chart_values(settings))
    release = ReleasePlan(key="release", name=RELEASE, namespaces=(NAMESPACE,), chart=pinned, values=values)
    return PartPlan((release,)), faults


def chart_values(settings: Settings) -> dict[str, Any]:
    """The values that follow from the settings."""
    return services_placement(settings)
''',
    "part.py": '''"""The part @NAME@ of the platform."""

from __future__ import annotations

from parts.@NAME@.plan import CHART, OWNED, @NAME@_plan, is_wanted
from parts.part import Part

PART = Part(
    name="@NAME@",
    title="‹what it is, in a few words›",
    setting=("parts", "@KEY@"),
    resource_type="physical-ai:kubernetes:@CLASS@",
    resource_name="@DASHED@",
    owned={CHART: OWNED},
    wanted=is_wanted,
    plan=@NAME@_plan,
    examples=tuple((stack, {"parts": {"@KEY@": {}}}) for stack in ("dev-westus2", "onprem-lab")),
    stage="cluster",
    chart_images={CHART: ("‹registry/repository:tag of each image›",)},
)
''',
    "charts.yaml": """# Pins of the chart. The keys are those of physical_ai/catalog/data/charts.yaml.

- name: @CHART@
  repository: https://‹address-of-the-repository,-or-oci://…›
  organisation: "‹organisation on GitHub that publishes the chart›"
  licence: "‹SPDX identifier of LICENSE in the chart's source repository›"
  versions:
    - version: @VERSION@
      known: believed
      source: "‹where this version was seen›"
      date: @DATE@
  compared:
    - versions: [@VERSION@]
      against: "‹repository and path of the chart›"
      at: "‹tag or commit that was rendered›"
      how: nothing
      differs: ["‹what the simulator's model of it does otherwise›", the tag was not read]
      date: @DATE@
""",
    "@CHART@-keys.yaml": """# Keys of the chart's values, in the form that gpu-operator-keys.yaml explains.

- source: "‹repository and path of its values.yaml, with the tag›"
  date: @DATE@
  read: [@VERSION@]
  sections:
    # ‹all keys of the chart's values.yaml›
    "":
      values: [nameOverride, fullnameOverride]
      lists: [tolerations]
      maps: [nodeSelector, resources]
""",
    "@CHART@-values.yaml": """# Values of the chart @CHART@, for stacks with @SETTING@. The program
# adds what follows from the settings, and refuses those keys here (values/README.md).

resources: {} # ‹requests and limits, as the chart's values.yaml has them›
""",
    "namespaces.yaml": """# ‹Why its Pods need this Pod Security level, if it is another than restricted.›
apiVersion: v1
kind: Namespace
metadata:
  name: @CHART@
  labels:
    pod-security.kubernetes.io/enforce: restricted
""",
}
