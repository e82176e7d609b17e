"""Skeleton of an optional part with one chart: `make part NAME=fluent_bit`.

It writes eight files into `parts/NAME/`. Text between ‹ and › is left to be written; `physai` names each such line as a
fault once the part is listed, and this command does before. It changes no file that exists.
"""

from __future__ import annotations

import argparse
import datetime
import keyword
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic.alias_generators import to_camel, to_pascal

from physical_ai.input_errors import without_traceback
from physical_ai.repository import PARTS, ROOT

with without_traceback(SystemExit):  # these import the modules of all parts
    from physical_ai.planning.part_files import REGISTRY, TO_BE_WRITTEN, open_lines, part_faults

NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
CHART = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
VERSION = re.compile(r"v?\d+\.\d+\.\d+")
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


def files(name: str, chart: str, version: str, date: datetime.date) -> dict[str, str]:
    """Content of each file of a new part, by path."""
    words = {
        "NAME": name,
        "CHART": chart,
        "VERSION": version,
        "DATE": date.isoformat(),
        "CLASS": to_pascal(name),
        "KEY": to_camel(name),
        "SETTING": f"parts.{to_camel(name)}",
        "DASHED": name.replace("_", "-"),
    }

    def filled(text: str) -> str:
        return re.sub(r"@([A-Z]+)@", lambda found: words[found[1]], text)

    return {filled(file): filled(text) for file, text in FILES.items()}


def input_problem(name: str, version: str) -> str | None:
    """Reason to refuse a name or a version, with what to write; None where both can be used."""
    if keyword.iskeyword(name) or (PARTS / f"{name}.py").exists():
        return f"NAME={name} is a word of Python or a module of parts/: write another, such as {name}_part."
    if VERSION.fullmatch(version) is None:
        return f"VERSION={version} is not the version of a release: write three numbers, such as 1.2.3 or v1.2.3."
    return None


def next_steps(name: str, root: Path = ROOT) -> Iterator[str]:
    """Open steps for a new part, a line each."""
    if f'"{name}"' not in (root / REGISTRY).read_text():
        yield f'{REGISTRY}: NAMES: write "{name}", at its place in the order of declaration'
    for file, number, key, text in open_lines(root / "parts" / name):
        yield f"parts/{name}/{file}:{number}: {key}: {text}"
    if root == ROOT:
        yield from _faults(name)
    yield "make docs-reference; python -m tests.golden.regenerate"
    yield f"physai policy dev-westus2 --set 'parts={{{to_camel(name)}: {{}}}}'"


def _faults(name: str) -> Iterator[str]:
    """Faults of the part beside the texts that are still to be written, on one line each."""
    for fault in part_faults():
        if fault.file.startswith(f"parts/{name}/") and fault.problem != TO_BE_WRITTEN:
            yield " ".join(str(fault).split())


def main() -> int:
    parser = argparse.ArgumentParser(prog="make part NAME=…", description="Write the skeleton of an optional part.")
    parser.add_argument("name", help="name of the folder, as a Python module: fluent_bit")
    parser.add_argument("--chart", default="", help="name of the Helm chart; by default the part's name with dashes")
    parser.add_argument("--version", default="", help="version of the chart to pin, for a new part")
    given = parser.parse_args()
    chart = given.chart or given.name.replace("_", "-")
    if not NAME.fullmatch(given.name) or not CHART.fullmatch(chart):
        print(
            f"NAME={given.name} CHART={chart}: write a name like fluent_bit, and a chart like fluent-bit.",
            file=sys.stderr,
        )
        return 2
    folder = PARTS / given.name
    if folder.exists() and given.version:
        print(
            f"parts/{given.name}/ is there already: VERSION is for a new part; charts.yaml has its pin.",
            file=sys.stderr,
        )
        return 2
    if not folder.exists() and (problem := input_problem(given.name, given.version)):
        print(problem, file=sys.stderr)
        return 2
    if not folder.exists():
        folder.mkdir()
        for file, text in files(given.name, chart, given.version, datetime.date.today()).items():
            (folder / file).write_text(text)
        print(f"parts/{given.name}/: {len(FILES)} files written")
    print("Next:")
    for step in next_steps(given.name):
        print(f"  {step}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
