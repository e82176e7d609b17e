"""The sample that sends spans: its program, run with the environment that the platform gives it, reaches a receiver."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from parts.traces.names import ADDRESS
from physical_ai.planning.osmo_platforms import TASK_TEMPLATE, pod_templates
from physical_ai.repository import ROOT
from physical_ai.settings import Overlay, load

SAMPLE = ROOT / "workbench" / "osmo" / "samples" / "traced.yaml"
TRACES = "monitoring.traces={endpoint: 'https://otlp.contoso.com'}"
FIELDS = {"metadata.labels['osmo.task_name']": "train", "metadata.labels['osmo.workflow_id']": "traced-1"}


def environment(*assignments: str) -> dict[str, str]:
    """What a task's container has, with what the kubelet fills in."""
    template = pod_templates(load("dev-westus2", [Overlay.assign(assignments)]).settings)[TASK_TEMPLATE]
    found: dict[str, str] = {}
    for each in template["spec"]["containers"][0].get("env", ()):
        text = each.get("value") or FIELDS[each["valueFrom"]["fieldRef"]["fieldPath"]]
        for name, value in found.items():
            text = text.replace(f"$({name})", value)
        found[each["name"]] = text
    return found


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """An address that takes OTLP over HTTP, and the paths and bodies of what it got."""
    got: list[tuple[str, bytes]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", got
    server.shutdown()
    server.server_close()


def test_tasks_have_no_address_unless_traces_are_sent() -> None:
    assert not [name for name in environment() if name.startswith("OTEL")]
    assert environment(TRACES)["OTEL_EXPORTER_OTLP_ENDPOINT"] == ADDRESS == "http://otel-collector.telemetry:4318"


def test_the_program_sends_its_spans_with_the_names_of_task_and_workflow(
    receiver: tuple[str, list[tuple[str, bytes]]], tmp_path: Path
) -> None:
    (task,) = yaml.safe_load(SAMPLE.read_text())["workflow"]["tasks"]
    program = next(each["contents"] for each in task["files"] if each["path"] == "/srv/train.py")
    file = tmp_path / "train.py"
    file.write_text(program)
    address, got = receiver
    given = {**os.environ, **environment(TRACES), "OTEL_EXPORTER_OTLP_ENDPOINT": address}
    answer = subprocess.run([sys.executable, str(file)], env=given, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    ((path, body),) = got
    assert path == "/v1/traces"
    (resource,) = ExportTraceServiceRequest.FromString(body).resource_spans
    names = {each.key: each.value.string_value for each in resource.resource.attributes}
    assert (names["service.name"], names["osmo.workflow_id"]) == ("train", "traced-1")
    spans = [span.name for scope in resource.scope_spans for span in scope.spans]
    assert sorted(spans) == ["epoch", "epoch", "epoch", "training"]
