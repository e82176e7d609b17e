"""The programs of a deployment, compared with the checksums that are known."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support.workflow_files import GITHUB, script

VERSIONS = {"pulumi": "3.259.0", "azure-native": "3.29.0", "kubernetes": "4.34.2", "random": "4.21.4"}
NAMES = [
    "pulumi 3.259.0",
    "pulumi-language-python 3.259.0",
    "pulumi-resource-azure-native 3.29.0",
    "pulumi-resource-kubernetes 4.34.2",
    "pulumi-resource-random 4.21.4",
]


@pytest.fixture
def plugins() -> Any:
    return script("provider_plugins")


@pytest.fixture
def programs(plugins: Any, tmp_path: Path) -> dict[str, Path]:
    found: dict[str, Path] = plugins.programs(tmp_path / "bin" / "pulumi", tmp_path / "home", VERSIONS)
    for name, path in found.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return found


def test_pulumi_and_each_plugin_are_found_where_pulumi_puts_them(programs: dict[str, Path], tmp_path: Path) -> None:
    assert list(programs) == NAMES
    folder = tmp_path / "home" / "plugins" / "resource-kubernetes-v4.34.2"
    assert programs[NAMES[3]] == folder / "pulumi-resource-kubernetes"


def test_a_known_checksum_is_kept_and_an_unknown_one_is_named(plugins: Any, programs: dict[str, Path]) -> None:
    known = {name: hashlib.sha256(name.encode()).hexdigest() for name in NAMES if name != NAMES[3]}
    errors, warnings = plugins.compare(programs, known)
    assert errors == []
    assert [line.split(";")[0] for line in warnings] == [f"no checksum is known of {NAMES[3]}"]
    assert hashlib.sha256(NAMES[3].encode()).hexdigest() in warnings[0]

    errors, _ = plugins.compare(programs, {**known, NAMES[0]: "0" * 64})
    assert [line.split(" has")[0] for line in errors] == [NAMES[0]]


def test_the_committed_checksums_are_of_programs_that_deployments_run() -> None:
    document: dict[str, dict[str, str]] = tomllib.loads((GITHUB / "checksums.toml").read_text())
    for lines in document.values():
        assert set(lines) <= set(NAMES)
        assert all(len(value) == 64 for value in lines.values())
