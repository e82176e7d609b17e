"""The program that records GPU machines: what it reads of one, what it writes, and what it removes."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from gpu_evidence import __main__ as agent
from gpu_evidence import collect, record
from gpu_evidence.retention import expired
from json_http import ApiServer, Refused

VM = "0af4c2de-1111-4222-8333-444455556666"
NODE = "aks-h100gpu-12345678-vmss000000"
# In the form of the open kernel module's proc files (NVIDIA/open-gpu-kernel-modules, nv-procfs.c).
INFORMATION = """Model: \t\t NVIDIA H100 NVL
IRQ:   \t\t 0
GPU UUID: \t GPU-8f6c3a10-0000-1111-2222-333344445555
Video BIOS: \t 96.00.99.00.01
Bus Type: \t PCIe
Bus Location: \t 0001:00:00.0
GPU Firmware: \t 580.95.05
GPU Excluded:\t No
"""
VERSION = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs-builder@U22)\n"


def pool(**values: str) -> bytes:
    return b"".join(key.encode().ljust(512, b"\0") + value.encode().ljust(2048, b"\0") for key, value in values.items())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "sys/class/dmi/id/product_uuid": VM.upper() + "\n",
        "proc/sys/kernel/random/boot_id": "boot-1\n",
        "proc/sys/kernel/osrelease": "6.8.0-1041-azure\n",
        "proc/driver/nvidia/version": VERSION,
        "proc/driver/nvidia/gpus/0001:00:00.0/information": INFORMATION,
        "sys/bus/pci/devices/0001:00:00.0/vendor": "0x10de\n",
        "sys/bus/pci/devices/0001:00:00.0/device": "0x2321\n",
        "sys/bus/pci/devices/0001:00:00.0/current_link_speed": "32.0 GT/s PCIe\n",
        "sys/bus/pci/devices/0000:00:07.0/vendor": "0x8086\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "kvp").write_bytes(pool(HostName="CLUSTERNODE", PhysicalHostName="GGBB90904476", VirtualMachineId="V"))
    return tmp_path


def test_a_machine_is_recorded_with_its_physical_host_and_its_gpus(root: Path) -> None:
    assert collect.machine(root, root / "kvp") == {
        "host": {"physicalHostName": "GGBB90904476", "virtualMachineId": "V"},
        "vmUniqueId": VM,
        "bootId": "boot-1",
        "kernel": "6.8.0-1041-azure",
        "driver": "580.95.05",
        "pci": [{"address": "0001:00:00.0", "device": "0x2321", "linkSpeed": "32.0 GT/s PCIe"}],
        "gpus": [
            {
                "pci": "0001:00:00.0",
                "model": "NVIDIA H100 NVL",
                "uuid": "GPU-8f6c3a10-0000-1111-2222-333344445555",
                "vbios": "96.00.99.00.01",
                "firmware": "580.95.05",
            }
        ],
    }


def test_a_machine_without_driver_hypervisor_or_gpu_is_recorded_too(tmp_path: Path) -> None:
    found = collect.machine(tmp_path, tmp_path / "none")
    assert (found["host"], found["driver"], found["pci"], found["gpus"]) == ({}, "", [], [])


def test_a_torn_pool_of_the_hypervisor_gives_what_is_whole() -> None:
    whole = pool(PhysicalHostName="HOST1")
    assert collect.hyperv(whole + b"VirtualMachineId") == {"physicalHostName": "HOST1"}
    assert collect.hyperv(whole[:-1]) == {}


def test_serial_numbers_are_those_of_nvidia_smi_and_unknown_cells_are_left_out() -> None:
    line = "0, GPU-8f6c, 1654922000001, NVIDIA H100 NVL, 96.00.99.00.01, 00000001:00:00.0, [N/A], 580.95.05\n"
    (gpu,) = collect.gpus(line)
    assert gpu["serial"] == "1654922000001"
    assert "inforom" not in gpu
    with pytest.raises(ValueError, match="No devices were found"):
        collect.gpus("No devices were found\n")


def test_an_nvidia_smi_that_fails_or_is_missing_is_itself_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "cannot be run" in collect.asked_gpus()["problem"]
    script = tmp_path / "nvidia-smi"
    script.write_text("#!/bin/sh\necho 'Unable to determine the device handle for GPU0: Unknown Error'; exit 255\n")
    script.chmod(0o755)
    assert collect.asked_gpus()["problem"].endswith(
        "ended with 255: Unable to determine the device handle for GPU0: Unknown Error"
    )


@pytest.mark.parametrize("stream", ["1", "2"])
def test_an_nvidia_smi_that_prints_without_end_is_ended(
    stream: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "nvidia-smi"
    script.write_text(f"#!/bin/sh\nwhile :; do echo 0123456789012345678901234567890123456789; done >&{stream}\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "printed more than 256 KiB" in collect.asked_gpus()["problem"]


def test_an_nvidia_smi_that_never_ends_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "nvidia-smi"
    script.write_text("#!/bin/sh\nexec /bin/sleep 600\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(collect, "SMI_SECONDS", 0.2)
    assert "did not end" in collect.asked_gpus()["problem"]


def test_no_control_character_of_nvidia_smi_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "nvidia-smi"
    script.write_text("#!/bin/sh\nprintf '\\033[31mGPU is lost\\007\\n'; exit 15\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert collect.asked_gpus() == {"problem": "nvidia-smi ended with 15: [31mGPU is lost"}
    (gpu,) = collect.gpus("0, GPU-1, [GPU requires reset], e\x1b[31m\x07, ERR!, [Unknown Error], GPU is lost, N/A\n")
    assert gpu == {"index": "0", "uuid": "GPU-1", "model": "e [31m"}


def test_starts_are_kept_with_the_first_one_and_only_when_something_differs() -> None:
    first = {"bootId": "1", "kernel": "k", "driver": "", "host": {"physicalHostName": "A"}}
    found = record.starts([], first, "t0")
    assert record.starts(found, first, "t1") == found
    for number in range(40):
        found = record.starts(found, {**first, "bootId": f"again {number}"}, f"t{number + 2}")
    assert len(found) == record.MOST_STARTS
    assert (found[0]["at"], found[-1]["bootId"]) == ("t0", "again 39")
    assert (
        record.starts(found, {**first, "bootId": "again 39", "host": {"physicalHostName": "B"}}, "t")[-1][
            "physicalHostName"
        ]
        == "B"
    )


def test_a_gpu_that_is_gone_keeps_what_was_known_of_it() -> None:
    first = record.cards([], [{"uuid": "a", "serial": "1"}, {"uuid": "b", "serial": "2"}], "t0")
    again = record.cards(first, [{"uuid": "b", "vbios": "v"}], "t1")
    assert again == [
        {"uuid": "a", "serial": "1", "lastSeen": "t0"},
        {"uuid": "b", "serial": "2", "vbios": "v", "lastSeen": "t1"},
    ]


def test_of_the_node_only_facts_about_the_machine_are_recorded() -> None:
    labels = {"kubernetes.azure.com/agentpool": "h100gpu", "team": "robots", "kubernetes.azure.com/cluster": "MC"}
    node = {
        "metadata": {"name": NODE, "uid": "u", "labels": labels, "annotations": {"secret": "x"}},
        "spec": {"providerID": "azure:///x"},
        "status": {"nodeInfo": {"osImage": "Ubuntu 24.04 LTS", "kubeletVersion": "v1.36.3"}},
    }
    assert record.node_facts(node) == {
        "node": NODE,
        "nodeUid": "u",
        "providerId": "azure:///x",
        "pool": "h100gpu",
        "osImage": "Ubuntu 24.04 LTS",
        "kubeletVersion": "v1.36.3",
    }


def held(name: str, node: str, seen: datetime) -> dict[str, Any]:
    annotations = {record.SEEN: seen.strftime("%Y-%m-%dT%H:%M:%SZ")}
    return {"metadata": {"name": name, "labels": {record.LABEL: node}, "annotations": annotations}}


def test_records_of_gone_machines_go_by_age_and_number_and_those_of_living_ones_stay() -> None:
    now = datetime(2026, 11, 20, tzinfo=UTC)
    days = [timedelta(days=number) for number in (0, 10, 89, 91, 200, 300)]
    records = [
        held("lives", "a", now - days[5]),
        held("same-name-before", "a", now - days[5] - days[1]),
        held("fresh", "b", now - days[1]),
        held("late", "c", now - days[2]),
        held("over", "d", now - days[3]),
    ]
    assert set(expired(records, ["a"], now, 90, 100)) == {"same-name-before", "over"}
    assert set(expired(records, ["a"], now, 90, 1)) == {"same-name-before", "over", "late"}
    assert len(expired(records, [], now, 90, 0)) == len(records)
    assert "lives" not in expired(records, ["a"], now, 90, 0)


class Server(BaseHTTPRequestHandler):
    """ConfigMaps and one node, with merge patches."""

    objects: dict[str, dict[str, Any]]
    log: list[tuple[str, str]]

    def _body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or "null")

    def _reply(self, code: int, value: Any) -> None:
        text = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_any(self) -> None:
        path, body = self.path.partition("?")[0], self._body()
        self.log.append((self.command, path))
        folder, _, name = path.rpartition("/")
        if self.command == "POST":
            self.objects[f"{path}/{body['metadata']['name']}"] = body
            return self._reply(201, body)
        if self.command == "GET" and name in ("nodes", "configmaps"):
            return self._reply(200, {"items": [v for k, v in self.objects.items() if k.startswith(f"{path}/")]})
        if path not in self.objects:
            return self._reply(404, {"message": f"{name} not found in {folder}"})
        if self.command == "DELETE":
            return self._reply(200, self.objects.pop(path))
        if self.command == "PATCH":
            self.objects[path].setdefault("data", {}).update(body["data"])
        return self._reply(200, self.objects[path])

    do_GET = do_POST = do_PATCH = do_DELETE = do_any  # noqa: N815 - the base class's names

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def api(tmp_path: Path) -> Iterator[ApiServer]:
    Server.objects = {f"/api/v1/nodes/{NODE}": {"metadata": {"name": NODE, "uid": "u"}}}
    Server.log = []
    server = HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    (tmp_path / "token").write_text("t")
    yield ApiServer(f"http://127.0.0.1:{server.server_port}", tmp_path)
    server.shutdown()
    server.server_close()


MAP = f"/api/v1/namespaces/gpu-operator/configmaps/evidence-{NODE}-0af4c2de"


def test_both_modes_write_one_map_of_the_machine(api: ApiServer, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = collect.machine(root, root / "kvp")
    monkeypatch.setattr(collect, "machine", lambda: found)
    monkeypatch.setattr(collect, "asked_gpus", lambda: {"gpus": [{"serial": "1", "uuid": "GPU-1"}]})
    agent.once(api, "gpus", "gpu-operator", NODE)
    agent.once(api, "machine", "gpu-operator", NODE)
    agent.once(api, "machine", "gpu-operator", NODE)
    data = Server.objects[MAP]["data"]
    assert set(data) == {record.MACHINE, record.GPUS, record.STARTS}
    assert json.loads(data[record.MACHINE])["host"]["physicalHostName"] == "GGBB90904476"
    (card,) = json.loads(data[record.GPUS])["gpus"]
    assert card["serial"] == "1"
    assert len(json.loads(data[record.STARTS])) == 1


def test_a_refusal_names_request_and_reason(api: ApiServer) -> None:
    with pytest.raises(Refused, match="GET /api/v1/nodes/other: 404 other not found"):
        api.request("GET", "/api/v1/nodes/other")
    with pytest.raises(Refused, match="no answer") as refused:
        ApiServer("http://127.0.0.1:9", Path("/nowhere")).request("GET", "/x")
    assert refused.value.code == 0


def test_old_records_are_removed_by_name(api: ApiServer) -> None:
    folder = "/api/v1/namespaces/gpu-operator/configmaps"
    Server.objects[f"{folder}/evidence-old"] = held("evidence-old", "old", datetime(2020, 1, 1, tzinfo=UTC))
    Server.objects[f"{folder}/evidence-now"] = held("evidence-now", NODE, datetime(2020, 1, 1, tzinfo=UTC))
    assert agent.prune(api, "gpu-operator", 90, 500) == ["evidence-old"]
    assert ("DELETE", f"{folder}/evidence-old") in Server.log


def write_port(root: Path, device: str, state: str, link: str = "InfiniBand") -> None:
    port = root / "sys/class/infiniband" / device / "ports/1"
    port.mkdir(parents=True, exist_ok=True)
    for name, text in (("state", state), ("link_layer", link), ("rate", "400 Gb/sec (4X NDR)")):
        (port / name).write_text(f"{text}\n")


def test_ports_of_infiniband_are_recorded_and_those_of_ethernet_are_not(root: Path) -> None:
    assert collect.ports(root) is None
    assert "ports" not in collect.machine(root, root / "kvp")
    write_port(root, "mlx5_0", "4: ACTIVE")
    write_port(root, "mlx5_1", "1: DOWN")
    write_port(root, "mlx5_an0", "4: ACTIVE", "Ethernet")
    rate = "400 Gb/sec (4X NDR)"
    assert collect.machine(root, root / "kvp")["ports"] == [
        {"device": "mlx5_0", "port": "1", "state": "ACTIVE", "rate": rate},
        {"device": "mlx5_1", "port": "1", "state": "DOWN", "rate": rate},
    ]


def test_another_state_of_a_port_is_recorded_before_the_hours_are_over(monkeypatch: pytest.MonkeyPatch) -> None:
    states = iter([[{"state": "ACTIVE"}], [{"state": "ACTIVE"}], [{"state": "DOWN"}]])
    monkeypatch.setattr(collect, "ports", lambda: next(states))
    monkeypatch.setattr(agent, "LOOK_SECONDS", 0.0)
    seen = collect.ports()
    agent.rest(threading.Event(), 3600.0, seen)
    assert next(states, None) is None


def test_a_program_that_has_to_end_does_not_rest() -> None:
    end = threading.Event()
    end.set()
    agent.rest(end, 3600.0, None)
