"""Plans of stacks in the form in which they are kept for good: each resource, and what must not change about it.

`python -m tests.support.frozen_plan STACK…` prints the plans of the project in PHYSAI_PROJECT as JSON; `write VERSION`
keeps those of the fixture of a new release.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from physical_ai.catalog.azure_native import by_token
from physical_ai.nested import at
from physical_ai.releases.notes import Release
from physical_ai.repository import PROJECT_VARIABLE, ROOT
from physical_ai.settings.layers.shape import Shape, tree
from simulator.kubernetes.force_new import FORCE_NEW
from workbench.policies import Resource
from workbench.upgrade.telling import fits

FIXTURES = ROOT / "tests" / "fixtures" / "releases"
LONGEST = 60
"""Characters of a value that is kept as it is; a digest takes the place of a longer one."""
ARCHIVE = re.compile(r"(.+?)-(v?\d+\.\d+\.\d+.*)\.tgz")
RELEASE = "kubernetes:helm.sh/v3:Release"
MODULE = "tests.support.frozen_plan"


@dataclass(frozen=True)
class Planned:
    """A resource of a plan. `parents`: the types of its parents, which are part of its URN. `fixed`: values of the
    inputs whose change replaces it. `version`: a release's chart.
    """

    type: str
    name: str
    parents: str
    fixed: Mapping[str, str]
    version: str = ""


@dataclass(frozen=True)
class Difference:
    """A resource of an older plan that the newer one replaces, deletes or moves, or whose chart has another version,
    and a text with the reason.
    """

    what: str
    type: str
    name: str
    why: str


def planned(resources: Iterable[Resource]) -> list[Planned]:
    """Resources of a run of the program, without Pulumi's components."""
    return [
        Planned(each.type, each.name, each.urn.split("::")[2], dict(_fixed(each)), _version(each))
        for each in resources
        if each.custom
    ]


def _version(resource: Resource) -> str:
    if resource.type != RELEASE:
        return ""
    chart = PurePosixPath(str(resource.inputs.get("chart"))).name
    archive = ARCHIVE.fullmatch(chart)
    return " ".join(archive.groups()) if archive is not None else f"{chart} {resource.inputs.get('version')}"


def _fixed(resource: Resource) -> Iterator[tuple[str, str]]:
    for path in sorted({*replacing(resource), *resource.options.replace_on_changes}):
        value = at(resource.inputs, path)
        if value is not None:
            yield path, _short(value)


def replacing(resource: Resource) -> Sequence[str]:
    mapping = by_token().get(resource.type)
    if mapping is not None:
        return (*mapping.path_params, *mapping.replace_on)
    if resource.type.startswith("random:"):
        return tuple(resource.inputs)
    if not resource.type.startswith("kubernetes:"):
        return ()
    group = str(resource.inputs.get("apiVersion", "")).rpartition("/")[0]
    own = FORCE_NEW.get((group, str(resource.inputs.get("kind"))), ())
    return ("metadata.name", "metadata.namespace", "name", "namespace", *(each for each in own if "[" not in each))


def _short(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=repr)
    return text if len(text) <= LONGEST else f"sha256:{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def differences(before: Sequence[Planned], after: Sequence[Planned]) -> list[Difference]:
    """Resources of a plan that another one replaces, deletes or moves below another parent."""
    found: list[Difference] = []
    now = {(each.type, each.name): each for each in after}
    for each in before:
        other = now.get((each.type, each.name))
        if other is None:
            found.append(Difference("deleted", each.type, each.name, "it is not declared"))
        elif other.parents != each.parents:
            found.append(Difference("moved", each.type, each.name, f"{each.parents} → {other.parents}"))
        elif changed := [path for path in each.fixed if each.fixed[path] != other.fixed.get(path)]:
            why = ", ".join(f"{path}: {each.fixed[path]} → {other.fixed.get(path)}" for path in changed)
            found.append(Difference("replaced", each.type, each.name, why))
        if other is not None and each.version != other.version:
            found.append(Difference("chart", each.type, each.name, f"{each.version} → {other.version}"))
    return found


def unannounced(found: Iterable[Difference], releases: Iterable[Release]) -> list[Difference]:
    """Differences that the notes of the releases do not mention."""
    notes = list(releases)
    effects = [effect for release in notes for effect in release.resources]
    charts = [change.chart for release in notes for change in release.charts]
    return [
        each
        for each in found
        if not any(effect.what == each.what and fits(effect, each.type, each.name) for effect in effects)
        and not (each.what == "chart" and each.why.partition(" ")[0] in charts)
    ]


def settings_paths(shape: Shape | None = None, above: tuple[str, ...] = ()) -> Iterator[str]:
    """Dotted paths of all settings; `*` stands for a name that a file chooses."""
    here = shape or tree()
    if here.kind == "model":
        for key, inner in here.fields.items():
            yield from settings_paths(inner, (*above, key))
    elif here.kind == "map" and here.item is not None:
        yield from settings_paths(here.item, (*above, "*"))
    else:
        yield ".".join(above)


def plans_of(project: Path, stacks: Sequence[str]) -> dict[str, list[Planned]]:
    """Plans of a project's stacks, from a process whose project it is."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    path = os.pathsep.join(str(ROOT / each) for each in ("", "agents", "agents/grid_driver"))
    done = subprocess.run(
        [sys.executable, "-m", MODULE, *stacks],
        cwd=project,
        env={**kept, PROJECT_VARIABLE: str(project), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: Mapping[str, list[dict[str, Any]]] = json.loads(done.stdout.splitlines()[-1])
    return {stack: [Planned(**row) for row in rows] for stack, rows in found.items()}


def kept(version: str, stack: str) -> list[Planned]:
    """The plan of a stack that was kept of a release."""
    rows: list[dict[str, Any]] = yaml.safe_load((FIXTURES / version / f"{stack}.yaml").read_text())
    return [Planned(**row) for row in rows]


def _print(stacks: Sequence[str]) -> None:
    from workbench.cli.policy_pack import declared_resources
    from workbench.cli.requested_stack import read_stack

    found = {each: planned(declared_resources(read_stack(each), preview=False).resources) for each in stacks}
    print(json.dumps({stack: [vars(row) for row in rows] for stack, rows in found.items()}))


def write(version: str) -> None:
    """Keeps settings, outputs and plans of the head as those of a release. Those of an older one are never written
    again.
    """
    from components.outputs import OUTPUTS
    from physical_ai.settings import existing

    folder = FIXTURES / version
    project = folder / "project"
    for stack, rows in plans_of(project, existing(project / "stacks")).items():
        text = "".join(f"- {json.dumps(vars(row), ensure_ascii=False)}\n" for row in rows)
        (folder / f"{stack}.yaml").write_text(f"# Resources of {stack} as version {version} declared them.\n{text}")
    (folder / "settings.txt").write_text("".join(f"{each}\n" for each in settings_paths()))
    (folder / "outputs.txt").write_text("".join(f"{each.replace('‹name›', '*')}\n" for each in OUTPUTS))


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2])
    else:
        _print(sys.argv[1:])
