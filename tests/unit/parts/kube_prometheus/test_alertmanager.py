"""The program's routes and inhibition in a real Alertmanager."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from parts.kube_prometheus.plan import alertmanager_config
from physical_ai import safe_yaml
from physical_ai.settings import Overlay, load
from tests.support.promtool import command
from tests.support.waiting import LIMIT

ALERTS = [
    {"alertname": "GPUXidNodeFault", "severity": "critical", "node": "b200-1", "cluster": "lab"},
    {"alertname": "GPUTooHot", "severity": "warning", "node": "b200-1", "cluster": "lab"},
    {"alertname": "GPUTooHot", "severity": "warning", "node": "b200-2", "cluster": "lab"},
    {"alertname": "KaiSchedulerDown", "severity": "critical", "cluster": "lab"},
    {"alertname": "GPUPodPending", "severity": "warning", "cluster": "lab", "pod": "a"},
]


def _call(address: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, {"Content-Type": "application/json"})  # noqa: S310 - loopback
    with urllib.request.urlopen(request, timeout=LIMIT) as answer:  # noqa: S310 - loopback
        return json.loads(answer.read() or b"null")


@pytest.mark.deep
def test_a_warning_about_a_node_with_a_critical_alert_is_held_back_and_no_other(tmp_path: Path) -> None:
    monitoring = load("onprem-lab", [Overlay.assign([])]).settings.monitoring
    (tmp_path / "alertmanager.yml").write_text(safe_yaml.dump(alertmanager_config(monitoring, {})))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    options = ["--config.file=alertmanager.yml", "--storage.path=data", "--cluster.listen-address="]
    run = [command().with_name("alertmanager"), *options, f"--web.listen-address=127.0.0.1:{port}"]
    with subprocess.Popen(run, cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        try:
            address = f"http://127.0.0.1:{port}/api/v2"
            until = time.monotonic() + LIMIT
            while True:
                try:
                    _call(f"{address}/alerts", [{"labels": each} for each in ALERTS])
                    break
                except OSError:
                    assert time.monotonic() < until
                    time.sleep(0.1)
            while len(found := _call(f"{address}/alerts")) < len(ALERTS) or not any(_held(each) for each in found):
                assert time.monotonic() < until, found
                time.sleep(0.1)
            held = [(each["labels"]["alertname"], each["labels"].get("node")) for each in found if _held(each)]
            assert held == [("GPUTooHot", "b200-1")]
        finally:
            process.terminate()


def _held(alert: Any) -> bool:
    return bool(alert["status"]["inhibitedBy"])
