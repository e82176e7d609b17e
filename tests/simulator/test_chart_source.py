"""Which chart the simulator gives helm in place of the one a release names."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from physical_ai.catalog import newest_release
from physical_ai.catalog.chart_archives import cached_chart, record, sha256_of
from physical_ai.catalog.charts import chart
from simulator.charts import NoModel, chart_source
from simulator.home import Home
from simulator.kubernetes import KubernetesOptions
from simulator.kubernetes.helm import HelmFailed
from simulator.kubernetes.provider import Kubernetes
from simulator.wire import Request
from tests.support.charts import OPERATOR, helm

NGC = "https://helm.ngc.nvidia.com/nvidia"
NEWEST = newest_release().version


@pytest.fixture(autouse=True)
def no_lock(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("physical_ai.catalog.chart_archives.LOCK", tmp_path / "charts.lock")


def check(version: str, **inputs: object) -> list[str]:
    """What the provider says of a release, as a preview would."""
    provider = Kubernetes(KubernetesOptions(str(helm()), chart_source=chart_source))
    token = "kubernetes:helm.sh/v3:Release"
    wanted = {"chart": OPERATOR, "version": version, "name": "r", "namespace": "n", "repositoryOpts": {"repo": NGC}}
    request = Request(urn=f"urn:pulumi:dev::demo::{token}::r", type=token, name="r")
    _, failures = provider.check(request, {}, {**wanted, **inputs})
    return [failure.reason for failure in failures]


def test_a_pinned_chart_is_its_model_and_the_second_time_the_same_folder() -> None:
    first = chart_source(OPERATOR, NEWEST, NGC)
    assert (first / "Chart.yaml").read_text().count("A model of the upstream chart") == 1
    assert chart_source(OPERATOR, NEWEST, NGC) == first
    assert check(NEWEST) == []


def test_the_archive_of_a_stack_that_installs_from_the_cache_is_its_model_until_it_is_pulled() -> None:
    assert chart_source(f".charts/{OPERATOR}-{NEWEST}.tgz", "", "") == chart_source(OPERATOR, NEWEST, NGC)
    with pytest.raises(NoModel):
        chart_source(f".charts/{OPERATOR}-v9.9.9.tgz", "", "")


def test_an_oci_address_is_identified_by_its_last_part() -> None:
    assert chart_source(f"oci://mirror.example/charts/{OPERATOR}", NEWEST, "").name.startswith(f"{OPERATOR}-{NEWEST}")


@pytest.mark.parametrize("version", ["v26.3.2", "v9.9.9", ""])
def test_a_version_without_a_model_is_refused_with_those_there_are(version: str) -> None:
    (reported,) = check(version)
    assert "no model of the chart gpu-operator" in reported
    assert "v25.3.4, v25.10.1, v26.3.3, v26.7.0, v26.7.1" in reported
    assert "physai charts pull" in reported


def test_a_chart_without_a_model_is_refused_and_never_downloaded() -> None:
    with pytest.raises(NoModel, match=r"no model of the chart nginx; it has one of gpu-operator"):
        chart_source("nginx", "1.0.0", "https://charts.example")


def test_a_file_or_folder_is_used_as_it_is(tmp_path: Path) -> None:
    archive = tmp_path / "any-1.0.0.tgz"
    archive.touch()
    assert chart_source(str(archive), "", "") == archive


def test_a_pulled_chart_precedes_the_model_as_long_as_it_is_the_pinned_one(monkeypatch: pytest.MonkeyPatch) -> None:
    pin = chart(OPERATOR, NEWEST).model_copy(update={"sha256": None})
    monkeypatch.setattr("simulator.charts.source.pinned_charts", lambda: {(OPERATOR, NEWEST): pin})
    pulled = cached_chart(pin)
    pulled.parent.mkdir(parents=True)
    pulled.write_bytes(b"the chart")
    record(pin, sha256_of(pulled), datetime.date(2026, 11, 21))
    assert chart_source(OPERATOR, NEWEST, NGC) == pulled
    assert chart_source(OPERATOR, "v26.3.3", NGC).is_dir()

    pulled.write_bytes(b"tampered with")
    with pytest.raises(HelmFailed, match="should be"):
        chart_source(OPERATOR, NEWEST, NGC)


def test_keys_the_chart_does_not_know_fail_the_preview() -> None:
    (reported,) = check(NEWEST, values={"driver": {"tolerations": []}})
    assert "at '/driver': additional properties 'tolerations' not allowed" in reported
