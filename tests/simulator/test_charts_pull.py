"""`physai charts pull` against a chart repository on loopback, with the real helm."""

from __future__ import annotations

import hashlib
import json
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from physical_ai.catalog import newest_release
from physical_ai.catalog.chart_archives import cached_chart, installed_chart, locked
from physical_ai.catalog.charts import Chart, chart, pinned_charts
from simulator.home import Home
from simulator.tools import toolbox
from workbench.cli.main import run

VERSION = newest_release().version
PULL = ["charts", "pull", "--set", "osmo.mode=namespaces"]
"""Of a stack whose one chart is the one in the repository."""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None: ...


@dataclass(frozen=True)
class Repository:
    """A chart repository with one chart, and the pin that names it."""

    folder: Path
    archive: Path
    pin: Chart
    helm: Path

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.archive.read_bytes()).hexdigest()

    def publish(self, description: str) -> None:
        """Packs the chart anew, under the same version."""
        source = self.folder.parent / "source"
        source.mkdir(exist_ok=True)
        lines = ["apiVersion: v2", "name: gpu-operator", f"version: {VERSION}", f"description: {description}"]
        (source / "Chart.yaml").write_text("\n".join(lines))
        subprocess.run([self.helm, "package", source, "-d", self.folder], check=True, capture_output=True)
        subprocess.run([self.helm, "repo", "index", self.folder], check=True, capture_output=True)


@pytest.fixture
def repository(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    folder = tmp_path / "repository"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        pin = chart("gpu-operator", VERSION).model_copy(update={"repository": address, "sha256": None})
        pins = {**pinned_charts(), (pin.name, pin.version): pin}
        monkeypatch.setattr("physical_ai.catalog.charts.pinned_charts", lambda: pins)
        monkeypatch.setattr("physical_ai.catalog.chart_archives.LOCK", tmp_path / "charts.lock")
        monkeypatch.setattr("physical_ai.catalog.chart_archives.ARCHIVES", tmp_path / "archives")
        made = Repository(folder, folder / f"gpu-operator-{VERSION}.tgz", pin, toolbox(home.tools).path("helm"))
        made.publish("first")
        yield made
        server.shutdown()


def test_the_first_pull_records_the_checksum_and_the_second_has_nothing_to_do(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*PULL, "dev-westus2"]) == 0
    printed = capsys.readouterr().out
    assert f"recorded  sha256 {repository.sha256}" in printed
    assert "physical_ai/catalog/data/charts.yaml" in printed
    assert f"version: {VERSION}, sha256: {repository.sha256}" in printed
    assert locked()["gpu-operator", VERSION].sha256 == repository.sha256
    assert cached_chart(repository.pin).read_bytes() == repository.archive.read_bytes()
    assert installed_chart(repository.pin).read_bytes() == repository.archive.read_bytes()

    assert run([*PULL, "dev-westus2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [(row["outcome"], row["sha256From"], row["verified"]) for row in document["charts"]] == [
        ("present", "lock", True)
    ]


def test_a_republished_archive_is_refused_and_nothing_of_it_is_left(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(PULL) == 0
    kept = repository.sha256
    cached = cached_chart(repository.pin)
    cached.unlink()
    repository.publish("second, which is another chart")
    assert run(PULL) == 1
    reported = capsys.readouterr().err
    assert repository.sha256 in reported
    assert kept in reported
    assert list(cached.parent.iterdir()) == []
    assert locked()["gpu-operator", VERSION].sha256 == kept


def test_a_file_in_the_cache_that_is_not_the_pinned_one_is_replaced(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(PULL) == 0
    cached_chart(repository.pin).write_bytes(b"tampered with")
    assert run(["charts"]) == 0
    assert "wrong" in capsys.readouterr().out
    assert run(PULL) == 0
    assert "verified  sha256" in capsys.readouterr().out
    assert cached_chart(repository.pin).read_bytes() == repository.archive.read_bytes()


def test_a_chart_the_repository_does_not_have_is_reported_with_helms_message(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.archive.unlink()
    assert run(PULL) == 1
    reported = capsys.readouterr().err
    assert f"gpu-operator {VERSION} could not be pulled from {repository.pin.repository}" in reported
    assert "404" in reported
    assert locked() == {}


def test_a_pipeline_downloads_nothing_unknown_and_verifies_what_is_in_the_committed_lock(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*PULL, "--locked"]) == 1
    reported = capsys.readouterr().err
    assert f"no checksum of the chart gpu-operator {VERSION} is known" in reported
    assert "commit stacks/charts.lock" in reported
    assert not cached_chart(repository.pin).exists()
    assert not installed_chart(repository.pin).exists()

    assert run(PULL) == 0  # on a laptop, whose lock file is then committed
    cached_chart(repository.pin).unlink()
    installed_chart(repository.pin).unlink()
    assert run([*PULL, "--locked"]) == 0
    assert installed_chart(repository.pin).read_bytes() == repository.archive.read_bytes()

    cached_chart(repository.pin).unlink()
    repository.publish("another chart under the same version")
    assert run([*PULL, "--locked"]) == 1
