"""How long Prometheus takes to scrape simulated GPU nodes and to evaluate all alert rules, by the number of nodes.

The exporters and Prometheus are those of `physai up --telemetry`, at the interval of a real cluster. There is no API
server: the nodes and their Pods are made here, because what is measured are scrapes and rules. Shown are the
processor time of an interval, the longest scrape, and the longest evaluation of all rules; all of them have to be
shorter than the interval. The limit is the first column to reach it.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import psutil
import yaml
from measure import DEFAULT_STACK, note, table

from physical_ai.catalog import vm_size
from physical_ai.settings import load
from physical_ai.settings.facts.telemetry import METRIC_LABELS, rule_parameters
from physical_ai.telemetry.counters import csv_for
from physical_ai.telemetry.rendering import rule_file
from simulator import processes
from simulator.clock import VARIABLE
from simulator.gpu.hardware import of_size
from simulator.gpu.node_state import CUDA_READY, DRIVER_READY, PLUGIN_READY, TOOLKIT_READY, NodeState
from simulator.home import Home
from simulator.metrics import dcgm, discovery, kube_state, operator_pages
from simulator.metrics.collector import Collected
from simulator.metrics.dcgm_units import Job
from simulator.metrics.exporters import UNKNOWN, Answer
from simulator.metrics.managed_prometheus import label_list
from simulator.metrics.reading import Reader
from simulator.metrics.scraping import default_jobs
from simulator.metrics.server import serve
from simulator.metrics.telemetry import Telemetry
from simulator.tools import TELEMETRY, toolbox

COUNTS = (10, 100, 1000)
INTERVAL = 30.0
"""Seconds between two scrapes and two evaluations."""
INTERVALS = 3
"""That are measured, after the first one."""
SIZE = "Standard_NC40ads_H100_v5"
OPERANDS = {"nvidia-dcgm-exporter": 9400, "nvidia-node-status-exporter": 8000, "nvidia-device-plugin": 0, "driver": 0}
"""Pods on each node, with the port of their exporter."""
READY = frozenset({DRIVER_READY, TOOLKIT_READY, CUDA_READY, PLUGIN_READY})
SETTINGS = load(DEFAULT_STACK).settings
RELEASE = SETTINGS.gpu_operator.version


@dataclass
class Fleet:
    """Exporters of nodes that exist here only."""

    count: int
    nodes: list[dict[str, Any]] = field(init=False)
    pods: list[dict[str, Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.nodes = [_node(index) for index in range(self.count)]
        self.pods = [_pod(index, app, port) for index in range(self.count) for app, port in OPERANDS.items()]
        self._state, self._csv = kube_state.KubeState(), csv_for(RELEASE)
        found = of_size(vm_size(SIZE))
        assert found is not None
        self._hardware = found
        self._totals: dict[str, dcgm.Totals] = {}

    def answer(self, path: str, host: str) -> Answer:
        parts = urlsplit(path)
        match parts.path.strip("/").split("/"):
            case ["targets"]:
                wanted = discovery.selection(dict(parse_qsl(parts.query)))
                return Answer(200, json.dumps(discovery.targets(self.pods, wanted, host)), "application/json")
            case ["kube-state-metrics", "metrics"]:
                allowed = {kind: tuple(text.split(",")) for kind, text in parse_qsl(parts.query)}
                objects = kube_state.Objects(
                    self.nodes, self.pods, node_labels=allowed["nodes"], pod_labels=allowed["pods"]
                )
                return Answer(200, self._state.page(objects))
            case ["pods", _, pod, "metrics"]:
                app, _, index = pod.rpartition("-")
                return Answer(200, self._exporter(app, _name(int(index))))
            case _:
                return UNKNOWN

    def _exporter(self, app: str, node: str) -> str:
        if app != "nvidia-dcgm-exporter":
            state = NodeState(RELEASE, self._hardware, files=READY, resources={"nvidia.com/gpu": 1})
            return operator_pages.node_status_page(node, state, time.time())
        totals = self._totals.setdefault(node, dcgm.Totals())
        job = Job("osmo-workflows", f"train-{node}", "train")
        exporter = rule_parameters(SETTINGS).exporter
        gpus = dcgm.Gpus(node, self._hardware, "595.91.07", exporter, [job], totals=totals)
        return dcgm.page(gpus, self._csv, time.time())


def _name(index: int) -> str:
    return f"aks-h100gpu-19345786-vmss{index:06d}"


def _node(index: int) -> dict[str, Any]:
    resources = {"cpu": "39500m", "memory": "325330Mi", "nvidia.com/gpu": "1"}
    conditions = [{"type": "Ready", "status": "True"}]
    return {
        "metadata": {
            "name": _name(index),
            "uid": f"node-{index}",
            "resourceVersion": "1",
            "labels": {"agentpool": "h100gpu"},
        },
        "status": {"capacity": resources, "allocatable": resources, "conditions": conditions},
    }


def _pod(index: int, app: str, port: int) -> dict[str, Any]:
    ports = [{"name": "metrics", "containerPort": port}] if port else []
    status = {"name": "main", "ready": True, "restartCount": 0, "state": {"running": {}}}
    return {
        "metadata": {
            "name": f"{app}-{index}",
            "namespace": "gpu-operator",
            "uid": f"{app}-{index}",
            "resourceVersion": "1",
            "labels": {"app": app},
        },
        "spec": {"nodeName": _name(index), "containers": [{"name": "main", "ports": ports}]},
        "status": {"phase": "Running", "containerStatuses": [status]},
    }


def main() -> None:
    options = _options()
    os.environ[VARIABLE] = str(INTERVAL)  # a scrape each model minute
    rows = [_measured(count) for count in options.counts]
    columns = ("nodes", "targets", "series", "scrape s", "rules s", "Prometheus CPU s", "exporters CPU s", "MiB")
    table(f"one interval of {INTERVAL:.0f} s, on {os.cpu_count()} processors", columns, rows)


def _measured(count: int) -> list[object]:
    fleet = Fleet(count)
    with tempfile.TemporaryDirectory() as folder:
        server = serve(fleet.answer, Path(folder))
        telemetry = Telemetry(Path(folder))
        rules = yaml.safe_load(rule_file(rule_parameters(SETTINGS)))
        try:
            given = Collected(default_jobs(), rules, label_list(METRIC_LABELS), kubelets=False, cluster="bench")
            telemetry.start(toolbox(Home.of_user().tools, families=TELEMETRY), given, f"127.0.0.1:{server.server_port}")
            return [count, *_intervals(telemetry, 2 * count + 1)]
        finally:
            telemetry.wipe()
            server.shutdown()


def _intervals(telemetry: Telemetry, targets: int) -> list[object]:
    reader = Reader(telemetry)
    up = "count(up == 1)"
    while not (found := reader.query(up)) or float(found[0]["value"][1]) < targets:
        time.sleep(1)
    note(f"{targets} targets")
    prometheus, own = processes.running(telemetry.folder)["prometheus"], psutil.Process()
    before = [sum(process.cpu_times()[:2]) for process in (prometheus, own)]
    time.sleep(INTERVALS * INTERVAL)
    after = [sum(process.cpu_times()[:2]) for process in (prometheus, own)]
    used = [(late - early) / INTERVALS for early, late in zip(before, after, strict=True)]
    scrape = float(reader.query("max(max_over_time(scrape_duration_seconds[2m]))")[0]["value"][1])
    series = int(reader.query("sum(scrape_samples_scraped)")[0]["value"][1])
    evaluation = sum(float(group["evaluationTime"]) for group in reader.rules())
    down = reader.query("up == 0")
    assert not down, [each["metric"] for each in down[:3]]
    return [targets, series, scrape, evaluation, *used, prometheus.memory_info().rss >> 20]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", nargs="*", type=int, default=COUNTS, help="numbers of nodes (default: 10 100 1000)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
