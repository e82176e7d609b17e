"""Imports between the project's packages point one way, and Pulumi stays where resources are declared."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

MAY_IMPORT: dict[str, set[str]] = {
    "catalog": set(),
    "settings": {"catalog"},
    "costs": {"settings", "catalog"},
    "preflight": {"settings", "catalog"},
    "gates": {"settings", "catalog"},
    "components": {"settings", "catalog", "gates", "osmo_workflows"},
    "policies": {"settings", "catalog"},
    "osmo_workflows": {"settings", "catalog"},
    "simulation_shutdown": set(),
    "simulator": {"catalog", "tools"},
    "tools": set(),
    "cli": {
        "catalog",
        "settings",
        "costs",
        "components",
        "gates",
        "policies",
        "osmo_workflows",
        "preflight",
        "simulator",
        "tools",
    },
    "reference": {"catalog", "settings", "components", "gates", "policies", "osmo_workflows", "cli"},
}
"""What each package may import of the others. `cli` may import all, and only the `reference` imports `cli`."""

PACKAGES = {name for name in MAY_IMPORT if any((ROOT / name).rglob("*.py"))}
WITHOUT_PULUMI = {"catalog", "costs", "gates", "policies", "osmo_workflows", "preflight", "simulation_shutdown"}


def imported(source: Path) -> set[str]:
    """Top-level names that a module imports anywhere in its body."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


def imports_of(package: str) -> dict[str, set[str]]:
    return {str(path.relative_to(ROOT)): imported(path) for path in sorted((ROOT / package).rglob("*.py"))}


def test_every_package_is_known_to_the_rule() -> None:
    found = {
        path.name
        for path in ROOT.iterdir()
        if path.is_dir() and not path.name.startswith(".") and (path / "__init__.py").exists()
    }
    assert found - {"tests", "benchmarks"} <= set(MAY_IMPORT)


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_imports_point_one_way(package: str) -> None:
    forbidden = set(MAY_IMPORT) - MAY_IMPORT[package] - {package}
    wrong = {path: sorted(names & forbidden) for path, names in imports_of(package).items() if names & forbidden}
    assert wrong == {}


@pytest.mark.parametrize("package", sorted(PACKAGES & WITHOUT_PULUMI))
def test_decisions_do_without_pulumi(package: str) -> None:
    wrong = [
        path
        for path, names in imports_of(package).items()
        if any(name == "pulumi" or name.startswith("pulumi_") for name in names)
        and not path.startswith("policies/pack/")  # which speaks with the engine
    ]
    assert wrong == []


def test_of_the_settings_only_secrets_know_pulumi() -> None:
    users = [path for path, names in imports_of("settings").items() if "pulumi" in names]
    assert set(users) <= {"settings/secrets.py"}


def test_the_program_imports_components_and_settings_only() -> None:
    assert imported(ROOT / "__main__.py") & set(MAY_IMPORT) == {"components", "settings"}


def test_no_package_imports_tests() -> None:
    wrong = [path for package in PACKAGES for path, names in imports_of(package).items() if "tests" in names]
    assert wrong == []
