"""Pinned charts: rows, checksums, and what a release installs."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from components.kubernetes.charts import archive_problems, missing_archives, release_options
from physical_ai.catalog import UnknownName, operator_releases
from physical_ai.catalog.chart_archives import (
    ChecksumMismatch,
    cached_chart,
    expected_sha256,
    installed_chart,
    record,
    sha256_of,
    verify,
)
from physical_ai.catalog.charts import chart, pinned_charts
from physical_ai.settings import existing, load

OPERATOR = "gpu-operator"
TODAY = datetime.date(2026, 11, 21)
INSTALLED = {"atomic": False, "cleanup_on_fail": False, "skip_await": False, "create_namespace": False}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache and a lock file of the test's own."""
    monkeypatch.setenv("PHYSAI_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("physical_ai.catalog.chart_archives.LOCK", tmp_path / "charts.lock")
    (tmp_path / "home" / "charts").mkdir(parents=True)
    return tmp_path / "home" / "charts"


def test_every_operator_release_has_a_pin() -> None:
    assert {version for name, version in pinned_charts() if name == OPERATOR} == set(operator_releases())


def test_only_a_checksum_with_a_source_is_in_the_catalogue() -> None:
    published = {(name, version) for (name, version), item in pinned_charts().items() if item.sha256}
    operators = [(OPERATOR, version) for version in ("v25.10.1", "v26.3.2", "v26.3.3", "v26.7.1")]
    assert published == {
        *operators,
        ("opentelemetry-collector", "0.182.0"),
        ("cert-manager", "v1.21.2"),
    }


@pytest.mark.parametrize(
    ("name", "version", "near"),
    [("gpu-operater", "v26.7.0", OPERATOR), (OPERATOR, "26.7.0", "v26.7.0"), (OPERATOR, "v26.7.9", "v26.7.2")],
)
def test_a_chart_that_is_not_pinned_is_unknown_and_the_nearest_is_named(name: str, version: str, near: str) -> None:
    with pytest.raises(UnknownName) as caught:
        chart(name, version)
    assert caught.value.suggestion == near


def test_a_first_pull_settles_what_every_later_one_must_find(cache: Path, tmp_path: Path) -> None:
    pin, path = chart(OPERATOR, "v26.7.0"), cache / "gpu-operator-v26.7.0.tgz"
    assert cached_chart(pin) == path
    path.write_bytes(b"the chart")
    with pytest.raises(ChecksumMismatch, match=r"no checksum of the chart gpu-operator v26\.7\.0 is known"):
        verify(pin, path)

    record(pin, sha256_of(path), TODAY)
    record(chart(OPERATOR, "v26.3.3"), "0" * 64, TODAY)
    assert verify(pin, path) == expected_sha256(pin)
    path.write_bytes(b"another")
    with pytest.raises(ChecksumMismatch, match=r"is not the chart gpu-operator v26\.7\.0"):
        verify(pin, path)
    written = (tmp_path / "charts.lock").read_text()
    assert written.index("v26.3.3") < written.index("v26.7.0")
    assert written.startswith("# Checksums of charts")


def test_the_catalogues_checksum_precedes_a_recorded_one() -> None:
    pin = chart(OPERATOR, "v26.3.2")
    record(pin, "0" * 64, TODAY)
    assert expected_sha256(pin) == pin.sha256


def test_a_release_from_the_repository_names_it_and_the_version() -> None:
    arguments = release_options(chart(OPERATOR, "v26.7.0"), "repository")
    assert arguments.pop("repository_opts").repo == "https://helm.ngc.nvidia.com/nvidia"
    assert arguments == {"chart": OPERATOR, "version": "v26.7.0", **INSTALLED}


def test_a_release_from_an_oci_registry_has_its_address_in_the_chart() -> None:
    pin = chart(OPERATOR, "v26.7.0").model_copy(update={"repository": "oci://registry.example/charts"})
    arguments = release_options(pin, "repository")
    assert arguments == {"chart": "oci://registry.example/charts/gpu-operator", "version": "v26.7.0", **INSTALLED}


def test_a_release_from_the_cache_is_the_verified_file_and_its_path_the_same_on_every_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("physical_ai.catalog.chart_archives.ARCHIVES", tmp_path)
    pin = chart(OPERATOR, "v26.7.0")
    path = installed_chart(pin)
    assert missing_archives([pin]) == [pin]
    assert not list(archive_problems([pin]))

    path.write_bytes(b"the chart")
    (problem,) = archive_problems([pin])
    assert "no checksum of the chart" in problem

    record(pin, sha256_of(path), TODAY)
    assert not missing_archives([pin])
    assert not list(archive_problems([pin]))
    assert release_options(pin, "cache") == {"chart": ".charts/gpu-operator-v26.7.0.tgz", **INSTALLED}

    path.write_bytes(b"tampered with")
    (problem,) = archive_problems([pin])
    assert "and should be" in problem


def test_every_chart_of_the_committed_stacks_is_known_or_named_as_unknown() -> None:
    """What `physai charts pull --locked` in a pipeline stops at, until stacks/charts.lock has it."""
    charts = [each for stack in existing() if not load(stack).settings.record for each in load(stack).plan.charts]
    unknown = {each.name for each in charts if each.sha256 is None}
    assert unknown == {"backend-operator", "kai-scheduler", "kube-prometheus-stack", "service"}
