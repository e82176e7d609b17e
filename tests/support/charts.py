"""Renders chart models with the real helm."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from physical_ai import safe_yaml
from simulator.charts import materialise, modelled
from simulator.home import Home
from simulator.tools import toolbox

Json = dict[str, Any]
OPERATOR = "gpu-operator"
RELEASES = modelled()[OPERATOR]
OURS: Json = {
    "cdi": {"enabled": True},
    "daemonsets": {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]},
    "driver": {"nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}},
    "toolkit": {"env": [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]},
    "mig": {"strategy": ""},
    "migManager": {"enabled": True, "config": {"name": "gpu-mig-layouts"}},
    "devicePlugin": {"config": {"create": False, "name": "gpu-pool-configs", "default": "default"}},
    "dcgmExporter": {"serviceMonitor": {"enabled": False}},
    "nodeStatusExporter": {"enabled": True},
    "validator": {"plugin": {"env": [{"name": "WITH_WORKLOAD", "value": "false"}]}},
    "operator": {"upgradeCRD": True, "cleanupCRD": False},
    "node-feature-discovery": {"worker": {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}},
}
"""Values that the platform sets in every release of the operator."""

POLICY = "/apis/nvidia.com/v1/clusterpolicies"
DRIVERS = "/apis/nvidia.com/v1alpha1/nvidiadrivers"


class Refused(Exception):
    """Error of helm about values that it does not accept; its text is helm's."""


@cache
def helm() -> Path:
    return toolbox(Home.of_user().tools).path("helm")


@cache
def model(release: str) -> Path:
    """Folder of the chart model of a release, in the user's cache."""
    return materialise(OPERATOR, release, Home.of_user().folder / "chart-models")


def run(*arguments: str, values: Mapping[str, Any] | None = None) -> str:
    """Output of a helm command that reads values from its input. Raises Refused."""
    command = [helm(), *arguments, "--values", "-"]
    done = subprocess.run(command, input=json.dumps(values or {}), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(done.stderr + done.stdout)
    return done.stdout


def render(release: str, values: Mapping[str, Any] | None = None, *flags: str) -> list[Json]:
    """Objects that a release's chart renders from these values. Raises Refused."""
    printed = run("template", OPERATOR, str(model(release)), "--namespace", OPERATOR, *flags, values=values)
    return [document for document in safe_yaml.load_all(printed) if document]


def one(objects: list[Json], kind: str, name: str | None = None) -> Json:
    """Returns the only object of a kind, or of a kind and a name. Fails if there is another number of them."""
    (found,) = [item for item in objects if item["kind"] == kind and name in (None, item["metadata"]["name"])]
    return found


def nested(path: str, value: Any) -> Json:
    """Values in which only the key at this dotted path is set."""
    for step in reversed(path.split(".")):
        value = {step: value}
    return value


def over(base: Mapping[str, Any], top: Mapping[str, Any]) -> Json:
    """Merges `top` into `base`. Maps are merged at any depth; other values of `top` win."""
    merged = dict(base)
    for key, value in top.items():
        held = merged.get(key)
        merged[key] = over(held, value) if isinstance(held, Mapping) and isinstance(value, Mapping) else value
    return merged


def driver(name: str, **spec: Any) -> Json:
    """NVIDIADriver with this spec."""
    given = {"image": "driver", "driverType": "gpu", **spec}
    return {"apiVersion": "nvidia.com/v1alpha1", "kind": "NVIDIADriver", "metadata": {"name": name}, "spec": given}
