"""Imports between packages point one way, without circles, and Pulumi stays where resources are declared."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from physical_ai.repository import ROOT

LOOKS = {"catalog", "settings", "untrusted"}
MAY_IMPORT: dict[str, set[str]] = {
    "catalog": set(),
    "untrusted": set(),
    "settings": {"catalog", "untrusted"},
    "readiness": LOOKS,
    "osmo": LOOKS,
    "policies": LOOKS,
    "preflight": LOOKS,
    "costs": LOOKS,
    "components": {*LOOKS, "readiness"},
    "simulator": {"catalog"},
    "mocks": {*LOOKS, "components", "policies"},
    "cli": {*LOOKS, "readiness", "osmo", "policies", "preflight", "costs", "components", "simulator", "mocks"},
    "agents": set(),
    "docs": {*LOOKS, "readiness", "osmo", "policies", "components", "cli"},
    "__main__": {"components", "settings"},
}
"""What each package may import of the others. `tests` may import everything, and nothing imports `tests`."""

FREE_OF_PULUMI = set(MAY_IMPORT) - {"components", "simulator", "mocks", "cli", "docs", "settings", "__main__"}
OUTSIDE = {"physical_ai/__init__.py", "physical_ai/repository.py", "physical_ai/findings.py", "physical_ai/nested.py"}
"""Modules of no package: where the checkout is, and what a finding is, how to read JSON. All may import them."""


def package_of(path: str) -> str:
    """The package of a module, by its path in the checkout."""
    first, *rest = Path(path).with_suffix("").parts
    return rest[0] if first == "physical_ai" else first


@cache
def modules() -> dict[str, str]:
    """Paths of all modules but those of tests, by the dotted name that imports them."""
    found: dict[str, str] = {}
    for root in (ROOT / "agents" / "grid_driver", ROOT / "agents", ROOT):
        for path in sorted(root.rglob("*.py")):
            relative = path.relative_to(ROOT).as_posix()
            if relative.startswith((".", "tests/")) or relative in found.values():
                continue
            name = ".".join(path.relative_to(root).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = relative
    return found


@cache
def imported(path: str) -> frozenset[str]:
    """Dotted names that a module imports anywhere in its body; for `from package import module`, the module."""
    names: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join((*Path(path).parts[: -node.level], *([base] if base else [])))
            taken = {f"{base}.{alias.name}" for alias in node.names}
            names |= {name if name in modules() else base for name in taken}
    return frozenset(names)


def arrows(path: str) -> Iterator[str]:
    """Paths of our modules that a module imports."""
    known = modules()
    yield from sorted({known[name] for name in imported(path) if name in known} - {path})


PATHS = sorted(set(modules().values()))


def test_every_package_is_known() -> None:
    assert {package_of(path) for path in PATHS if path not in OUTSIDE} == set(MAY_IMPORT)


@pytest.mark.parametrize("package", sorted(MAY_IMPORT))
def test_imports_point_one_way(package: str) -> None:
    own = [path for path in PATHS if path not in OUTSIDE and package_of(path) == package]
    wrong = {
        path: beyond
        for path in own
        if (beyond := {package_of(to) for to in arrows(path) if to not in OUTSIDE} - MAY_IMPORT[package] - {package})
    }
    assert wrong == {}


def test_no_circle_of_modules() -> None:
    TopologicalSorter({path: set(arrows(path)) for path in PATHS}).prepare()  # names a circle in its error


def test_no_circle_of_packages_in_the_simulator() -> None:
    def room(path: str) -> str:
        return Path(path).parts[2]

    own = [path for path in PATHS if path.startswith("physical_ai/simulator/")]
    graph: dict[str, set[str]] = {room(path): set() for path in own}
    for path in own:
        graph[room(path)] |= {room(to) for to in arrows(path) if to in own} - {room(path)}
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("package", sorted(FREE_OF_PULUMI))
def test_decisions_do_without_pulumi(package: str) -> None:
    wrong = [path for path in PATHS if package_of(path) == package and knows_pulumi(path)]
    assert [path for path in wrong if "/policies/pack/" not in path] == []  # which speaks with the engine


def test_of_the_settings_only_secrets_know_pulumi() -> None:
    users = [path for path in PATHS if package_of(path) == "settings" and knows_pulumi(path)]
    assert users == ["physical_ai/settings/secrets.py"]


def knows_pulumi(path: str) -> bool:
    return any(name.split(".")[0].startswith("pulumi") for name in imported(path))


def test_nothing_imports_tests() -> None:
    assert [path for path in PATHS if any(name.split(".")[0] == "tests" for name in imported(path))] == []


def test_agents_import_the_standard_library_only() -> None:
    import sys

    own = {name.split(".")[0] for name, path in modules().items() if package_of(path) == "agents"}
    wrong = {
        path: beyond
        for path in PATHS
        if package_of(path) == "agents"
        and (beyond := {name.split(".")[0] for name in imported(path)} - sys.stdlib_module_names - own - {"agents"})
    }
    assert wrong == {}
