"""What Pulumi's Kubernetes plugin answered in the dialogues, and where the stand-in answers something else on purpose.

`python -m tests.simulator.plugin_answers PLUGIN SOURCE` writes the file from a plugin on this machine.
"""

from __future__ import annotations

import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from simulator.control_plane import ControlPlane
from simulator.entra import tokens_file
from simulator.home import Home
from simulator.kubernetes import Client, KubernetesOptions
from simulator.kubernetes.helm import Helm
from simulator.kubernetes.kubeconfig import load
from simulator.tools import toolbox
from simulator.wire import Provider
from tests.simulator.plugin_dialogues import DIALOGUES, NODE, Scene
from tests.simulator.plugin_process import plugin_process
from tests.simulator.plugin_stack import Seen
from tests.simulator.pods import end_all

FILE = Path(__file__).parent / "recorded" / "kubernetes_plugin.yaml"
HEAD = """\
# What Pulumi's Kubernetes plugin answered in the dialogues of tests/simulator/plugin_dialogues.py, and where the
# stand-in answers something else. Written by `python -m tests.simulator.plugin_answers PLUGIN SOURCE`, except for
# `differences`.
"""
ROOM = {"cpu": "8", "memory": "16Gi", "pods": "20"}
GENUINE = {"short": 5, "settled": 16}
"""Seconds: the plugin lets endpoints settle for ten."""


def recorded() -> dict[str, Any]:
    return yaml.safe_load(FILE.read_text())


@contextmanager
def scene(provider: Provider, kubeconfig: str, folder: Path, helm: str, waits: Mapping[str, int]) -> Iterator[Scene]:
    """A place for one dialogue, whose Pods and node are deleted afterwards."""
    config = load(kubeconfig)
    client, name = Client(config), f"talk-{uuid.uuid4().hex[:8]}"
    client.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    node = {"metadata": {"name": name, "labels": {NODE: name}}, "status": {"allocatable": ROOM, "capacity": ROOM}}
    client.request("POST", "/api/v1/nodes", node)
    run = partial(Helm(KubernetesOptions(helm=helm), config).run)
    try:
        yield Scene(provider, client, name, folder, run, **waits)
    finally:
        end_all(client, name)
        client.request("DELETE", f"/api/v1/nodes/{name}")
        client.close()


def answers(plugin: Path, kubeconfig: str, helm: str, folder: Path) -> dict[str, list[Seen]]:
    """Runs every dialogue with the plugin."""
    found: dict[str, list[Seen]] = {}
    with plugin_process(plugin, kubeconfig, folder, Path(helm).parent) as provider:
        for name, dialogue in DIALOGUES.items():
            charts = folder / name
            charts.mkdir()
            with scene(provider, kubeconfig, charts, helm, GENUINE) as place:
                found[name] = dialogue(place)
            print(yaml.safe_dump({name: found[name]}, sort_keys=False, width=110), flush=True)
    return found


def main() -> None:
    plugin, source = Path(sys.argv[1]), sys.argv[2]
    tools = toolbox(Home.of_user().tools)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        plane = ControlPlane(root / "plane", tools, tokens_file(root))
        plane.start()
        try:
            found = answers(plugin, plane.admin_kubeconfig(), str(tools.path("helm")), root)
        finally:
            plane.wipe()
    before = recorded() if FILE.exists() else {}
    document = {
        "plugin": {"source": source, "recorded": datetime.now(UTC).date().isoformat()},
        "answers": found,
        "differences": before.get("differences") or {},
    }
    FILE.write_text(HEAD + yaml.safe_dump(document, sort_keys=False, width=110, allow_unicode=True))


if __name__ == "__main__":
    main()
