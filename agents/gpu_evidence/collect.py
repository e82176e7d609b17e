"""Reads the machine that this container runs on. What cannot be read is left out, and no error stops the rest."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import threading
from pathlib import Path
from typing import IO, Any

NVIDIA = "0x10de"
KEY_BYTES, VALUE_BYTES = 512, 2048
"""Of a record of Hyper-V's key-value pool (Linux, tools/hv/hv_kvp_daemon.c)."""
HYPERV = {
    "PhysicalHostName": "physicalHostName",
    "PhysicalHostNameFullyQualified": "physicalHostNameFullyQualified",
    "VirtualMachineId": "virtualMachineId",
    "VirtualMachineName": "virtualMachineName",
    "HostingSystemOsMajor": "hostMajor",
    "HostingSystemOsMinor": "hostMinor",
}
"""Data that the host passes to its guest, as it is called here."""
QUERY = ("index", "uuid", "serial", "name", "vbios_version", "pci.bus_id", "inforom.image", "driver_version")
FIELDS = ("index", "uuid", "serial", "model", "vbios", "pci", "inforom", "driver")
UNKNOWN = ("N/A", "ERR!", "Unknown Error", "GPU is lost", "")
"""Instead of a value, as is anything in brackets: `[N/A]`, `[Unknown Error]`, `[GPU requires reset]`."""
SMI_SECONDS, SMI_BYTES = 60, 256 << 10
"""How long nvidia-smi may take, and how much it may print; a GPU takes some 150 bytes."""
_VERSION = re.compile(r"Kernel Module\s+(?:for \S+\s+)?([\d.]+)")


def machine(root: Path = Path("/"), pool: Path = Path("/var/lib/hyperv/.kvp_pool_3")) -> dict[str, Any]:
    """Physical host, VM, kernel, driver, and NVIDIA devices of a machine.

    Args:
        root: Where `proc` and `sys` are.
        pool: What the host has told its guest; hv_kvp_daemon writes it.
    """
    found = ports(root)
    return {
        "host": hyperv(_bytes(pool)),
        "vmUniqueId": _text(root / "sys/class/dmi/id/product_uuid").lower(),
        "bootId": _text(root / "proc/sys/kernel/random/boot_id"),
        "kernel": _text(root / "proc/sys/kernel/osrelease"),
        "driver": _driver(_text(root / "proc/driver/nvidia/version")),
        "pci": _devices(root / "sys/bus/pci/devices"),
        "gpus": _driver_gpus(root / "proc/driver/nvidia/gpus"),
        **({"ports": found} if found is not None else {}),
    }


def ports(root: Path = Path("/")) -> list[dict[str, str]] | None:
    """InfiniBand ports with their state, such as `ACTIVE`; None where no driver of such adapters is loaded.

    Ports whose link is Ethernet belong to the node's own network (Linux, ABI/stable/sysfs-class-infiniband).
    """
    folder = root / "sys/class/infiniband"
    if not folder.is_dir():
        return None
    found: list[dict[str, str]] = []
    for device in sorted(_entries(folder)):
        for port in sorted(_entries(device / "ports")):
            if _text(port / "link_layer") == "InfiniBand":
                state = _text(port / "state").partition(":")[2].strip()
                found.append({"device": device.name, "port": port.name, "state": state, "rate": _text(port / "rate")})
    return found


def hyperv(pool: bytes) -> dict[str, str]:
    """The known keys of a key-value pool; a torn record at its end is left out.

    >>> hyperv(b"PhysicalHostName".ljust(512, bytes(1)) + b"HOST1".ljust(2048, bytes(1)))
    {'physicalHostName': 'HOST1'}
    """
    found: dict[str, str] = {}
    size = KEY_BYTES + VALUE_BYTES
    for start in range(0, len(pool) - size + 1, size):
        key, value = pool[start : start + KEY_BYTES], pool[start + KEY_BYTES : start + size]
        name = HYPERV.get(key.partition(b"\0")[0].decode(errors="replace"))
        if name is not None:
            found[name] = value.partition(b"\0")[0].decode(errors="replace")
    return found


def gpus(output: str) -> list[dict[str, str]]:
    """The GPUs in the output of `nvidia-smi --query-gpu=… --format=csv,noheader`. Raises ValueError for another one."""
    try:
        table = list(csv.reader(io.StringIO(output)))
    except csv.Error as problem:
        raise ValueError(f"nvidia-smi printed no table: {problem}") from None
    rows = [[_shown(cell) for cell in row] for row in table if row]
    wrong = next((row for row in rows if len(row) != len(FIELDS)), None)
    if wrong is not None:
        raise ValueError(f"nvidia-smi printed {', '.join(wrong)[:200]}")
    return [{key: cell for key, cell in zip(FIELDS, row, strict=True) if _is_known(cell)} for row in rows]


def _is_known(cell: str) -> bool:
    return cell not in UNKNOWN and not (cell.startswith("[") and cell.endswith("]"))


def asked_gpus() -> dict[str, Any]:
    """What nvidia-smi in this container says of the GPUs, or why it says nothing."""
    command = ["nvidia-smi", f"--query-gpu={','.join(QUERY)}", "--format=csv,noheader"]
    try:
        code, out, err = _ran(command)
    except OSError as problem:
        return {"problem": f"nvidia-smi cannot be run: {problem}"}
    if code is None:
        return {"problem": f"nvidia-smi did not end in {SMI_SECONDS} s, or printed more than {SMI_BYTES >> 10} KiB"}
    if code:
        said = [line for line in map(_shown, (out + err).splitlines()) if line]
        return {"problem": f"nvidia-smi ended with {code}: {said[0] if said else 'no output'}"}
    try:
        return {"gpus": gpus(out)}
    except ValueError as problem:
        return {"problem": str(problem)}


def _ran(command: list[str]) -> tuple[int | None, str, str]:
    """A program's exit code and output. None: it took too long, or printed too much, and was ended."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as ran:
        ended, errors = threading.Event(), list[bytes]()

        def end() -> None:
            ended.set()
            ran.kill()

        clock = threading.Timer(SMI_SECONDS, end)
        clock.start()
        # Both at once: a program whose other output is not read stops when the pipe is full.
        other = threading.Thread(target=lambda: errors.append(_most(ran.stderr)))
        other.start()
        out = _most(ran.stdout)
        other.join()
        if max(len(out), len(errors[0])) > SMI_BYTES:
            end()
        code = ran.wait()
        clock.cancel()
    return None if ended.is_set() else code, out.decode(errors="replace"), errors[0].decode(errors="replace")


def _most(pipe: IO[bytes] | None) -> bytes:
    """What a program prints, up to one byte more than it may; then the pipe is closed, which ends it."""
    if pipe is None:
        return b""
    with pipe:
        return pipe.read(SMI_BYTES + 1)


def _shown(text: str) -> str:
    """One line without control characters, bounded."""
    return " ".join("".join(each if each.isprintable() else " " for each in text[:1200]).split())[:300]


def _devices(folder: Path) -> list[dict[str, str]]:
    """NVIDIA's devices on the PCI bus: address, device, subsystem, and the link as it is and as it could be."""
    found: list[dict[str, str]] = []
    for device in sorted(_entries(folder)):
        if _text(device / "vendor") != NVIDIA:
            continue
        names = {
            "device": "device",
            "subsystem": "subsystem_device",
            "revision": "revision",
            "class": "class",
            "linkSpeed": "current_link_speed",
            "linkWidth": "current_link_width",
            "linkSpeedMost": "max_link_speed",
            "linkWidthMost": "max_link_width",
        }
        values = {key: _text(device / name) for key, name in names.items()}
        found.append({"address": device.name, **{key: value for key, value in values.items() if value}})
    return found


def _driver_gpus(folder: Path) -> list[dict[str, str]]:
    """What the loaded driver says of its GPUs, `GPU Firmware` as `firmware`; empty without a driver."""
    names = {"Model": "model", "GPU UUID": "uuid", "Video BIOS": "vbios", "GPU Firmware": "firmware"}
    found: list[dict[str, str]] = []
    for gpu in sorted(_entries(folder)):
        lines = (line.partition(":") for line in _text(gpu / "information").splitlines())
        values = {names[key.strip()]: value.strip() for key, _, value in lines if key.strip() in names}
        found.append({"pci": gpu.name, **{key: value for key, value in values.items() if _is_known(value)}})
    return found


def _driver(version: str) -> str:
    """The version in /proc/driver/nvidia/version.

    >>> _driver("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build")
    '580.95.05'
    """
    found = _VERSION.search(version)
    return found[1] if found else ""


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _text(path: Path) -> str:
    return _bytes(path).decode(errors="replace").strip()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
