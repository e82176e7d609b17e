"""Imports between packages point one way, without circles, and Pulumi stays where resources are declared."""

from __future__ import annotations

import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from docs.generator.packages import read
from physical_ai.repository import ROOT

LOOKS = {"catalog", "settings", "telemetry", "untrusted"}
MAY_IMPORT: dict[str, set[str]] = {
    "catalog": set(),
    "untrusted": set(),
    "kubernetes": set(),
    "telemetry": {"catalog"},
    "settings": {"catalog", "telemetry", "untrusted"},
    "readiness": {*LOOKS, "kubernetes"},
    "health": {*LOOKS, "kubernetes", "readiness"},
    "osmo": LOOKS,
    "policies": LOOKS,
    "preflight": LOOKS,
    "costs": LOOKS,
    "components": {*LOOKS, "readiness"},
    "simulator": {"catalog", "kubernetes", "telemetry", "untrusted"},
    "mocks": {*LOOKS, "readiness", "components", "policies"},
    "cli": {
        *LOOKS,
        "kubernetes",
        "readiness",
        "health",
        "osmo",
        "policies",
        "preflight",
        "costs",
        "components",
        "simulator",
        "mocks",
    },
    "agents": set(),
    "docs": {*LOOKS, "readiness", "health", "simulator", "osmo", "policies", "components", "cli"},
    "__main__": {"components", "settings"},
}
"""What each package may import of the others. `tests` may import everything, and nothing imports `tests`."""

FREE_OF_PULUMI = set(MAY_IMPORT) - {"components", "simulator", "mocks", "cli", "docs", "settings", "__main__"}
OUTSIDE = {
    "physical_ai/__init__.py",
    "physical_ai/repository.py",
    "physical_ai/findings.py",
    "physical_ai/nested.py",
    "physical_ai/safe_yaml.py",
}
"""Modules of no package: where the checkout is, what a finding is, how to read JSON and YAML. All may import them."""


@cache
def packages() -> dict[str, str]:
    """The package of each module; empty for the modules of none."""
    return {path: module.package for path, module in read(ROOT).modules.items()}


def imported(path: str) -> set[str]:
    """The top packages, of this project or others, that a module imports anywhere in its body."""
    return {module.partition(".")[0] for module, _ in read(ROOT).modules[path].names}


def test_every_package_is_known() -> None:
    assert set(packages().values()) - {""} == set(MAY_IMPORT)
    assert {path for path, package in packages().items() if not package} == OUTSIDE


@pytest.mark.parametrize("package", sorted(MAY_IMPORT))
def test_imports_point_one_way(package: str) -> None:
    wrong = {
        path: beyond
        for path, targets in read(ROOT).imports.items()
        if packages()[path] == package
        and (beyond := {packages()[target] for target in targets} - MAY_IMPORT[package] - {package, ""})
    }
    assert wrong == {}


def test_no_circle_of_modules() -> None:
    TopologicalSorter(read(ROOT).imports).prepare()  # names a circle in its error


def test_no_circle_of_packages_in_the_simulator() -> None:
    graph: dict[str, set[str]] = {}
    for path, targets in read(ROOT).imports.items():
        if packages()[path] == "simulator":
            part = Path(path).parts[2]
            own = {Path(target).parts[2] for target in targets if packages()[target] == "simulator"}
            graph[part] = graph.get(part, set()) | own - {part}
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("package", sorted(FREE_OF_PULUMI))
def test_decisions_do_without_pulumi(package: str) -> None:
    wrong = [path for path in packages() if packages()[path] == package and knows_pulumi(path)]
    assert [path for path in wrong if "/policies/pack/" not in path] == []  # which speaks with the engine


def test_of_the_settings_only_secrets_know_pulumi() -> None:
    users = [path for path in packages() if packages()[path] == "settings" and knows_pulumi(path)]
    assert users == ["physical_ai/settings/secrets.py"]


def knows_pulumi(path: str) -> bool:
    return any(name.startswith("pulumi") for name in imported(path))


def test_nothing_imports_tests() -> None:
    assert [path for path in packages() if "tests" in imported(path)] == []


def test_agents_import_the_standard_library_only() -> None:
    own = {name.partition(".")[0] for name, path in read(ROOT).by_name.items() if packages()[path] == "agents"}
    wrong = {
        path: beyond
        for path in packages()
        if packages()[path] == "agents" and (beyond := imported(path) - sys.stdlib_module_names - own)
    }
    assert wrong == {}
