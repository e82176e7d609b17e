"""The state of the host: files of /proc, /sys and /etc, and a few commands that change nothing."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from grid_agent.facts import Gpu, Module, Process, Record
from grid_agent.report.plain import plain
from grid_agent.shell import Shell
from grid_agent.smi import VERSION, loaded_flavour, registry_from

SECURE_BOOT = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
LEGACY_MARKER = "/run/nvidia/validations/.driver-ctr-ready"
DRIVER_ROOT = "/run/nvidia/driver"
DRIVER_READY = "/run/nvidia/validations/driver-ready"
PREBAKED_MARKER = "/opt/azure/aks-gpu/dkms-marker"
LIBRARY_FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/bin/lib64")
MODULES = ("nvidia_uvm", "nvidia_drm", "nvidia_modeset", "nvidia_peermem", "nvidia_vgpu_vfio", "nvidia")
"""In the order in which they can be unloaded: peermem and drm use others, nvidia is used by all."""
DAEMONS = frozenset({"nvidia-gridd", "nvidia-persiste"})
"""Holders of /dev/nvidia* that UNLOAD stops, by their name in /proc, which has 15 letters."""
POD_CGROUP = re.compile(r"pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12})")
DISPLAY_CLASS, NVIDIA = "0x03", "0x10de"


def system(shell: Shell) -> str:
    """`ID VERSION_ID`."""
    lines = (shell.read("/etc/os-release") or "").splitlines()
    pairs = dict(line.split("=", 1) for line in lines if "=" in line)
    return f"{pairs.get('ID', '')} {pairs.get('VERSION_ID', '')}".replace('"', "").strip()


def gpus(shell: Shell) -> Iterator[Gpu]:
    for device in sorted(shell.path("/sys/bus/pci/devices").glob("*")):
        here = f"/sys/bus/pci/devices/{device.name}"
        vendor, kind = (shell.read(f"{here}/{name}") or "" for name in ("vendor", "class"))
        if vendor.strip() == NVIDIA and kind.startswith(DISPLAY_CLASS):
            number = (shell.read(f"{here}/device") or "").strip().removeprefix("0x")
            driver = device / "driver"
            yield Gpu(device.name, f"10de:{number}", driver.resolve().name if driver.exists() else "")


def secure_boot(shell: Shell) -> bool:
    """The variable's fifth byte; no such variable: no UEFI, no Secure Boot."""
    try:
        data = shell.path(SECURE_BOOT).read_bytes()
    except OSError:
        return False
    return len(data) > 4 and data[4] == 1


def is_loaded(shell: Shell, module: str) -> bool:
    return shell.path(f"/sys/module/{module}/refcnt").exists()


def loaded(shell: Shell) -> dict[str, Module]:
    found: dict[str, Module] = {}
    flavour = loaded_flavour(shell.read("/proc/driver/nvidia/version"))
    for name in MODULES:
        if is_loaded(shell, name):
            users = (shell.read(f"/sys/module/{name}/refcnt") or "0").strip()
            version = (shell.read(f"/sys/module/{name}/version") or "").strip()
            of_it = flavour if name == "nvidia" else ""
            found[name] = Module(version, of_it, int(users) if users.isdigit() else 0)
    return found


def parameters(shell: Shell, modules: dict[str, Module]) -> dict[str, dict[str, str]]:
    """Module -> parameter -> value of every parameter that the kernel or the driver shows.

    NVIDIA declares `NVreg_*` with permission 0, so they are not in /sys (open-gpu-kernel-modules, nv-linux.h). The
    driver lists them without the prefix in its own file (nv-procfs.c).
    """
    shown: dict[str, dict[str, str]] = {}
    if "nvidia" in modules:
        shown["nvidia"] = registry_from(shell.read("/proc/driver/nvidia/params") or "")
    for module in modules:
        for path in sorted(shell.path(f"/sys/module/{module}/parameters").glob("*")):
            value = shell.read(f"/sys/module/{module}/parameters/{path.name}")
            shown.setdefault(module, {})[path.name] = (value or "").strip()
    return shown


def library(shell: Shell) -> str:
    """Every version of libnvidia-ml that is installed, the oldest first."""
    folders = (shell.path(folder) for folder in LIBRARY_FOLDERS)
    names = [path.name for folder in folders for path in folder.glob("libnvidia-ml.so.*")]
    versions = {found[0] for name in names if (found := VERSION.search(name))}
    return ",".join(sorted(versions, key=lambda version: [int(part) for part in version.split(".")]))


def is_program(path: Path) -> bool:
    """A regular, non-empty, executable file, as the validator requires of nvidia-smi."""
    try:
        found = path.stat()
    except OSError:
        return False
    return path.is_file() and found.st_size > 0 and bool(found.st_mode & 0o111)


def legacy_mount(shell: Shell) -> Literal["none", "root", "deleted", "other"]:
    """What is mounted on /run/nvidia/driver, on top."""
    roots: dict[str, tuple[str, str]] = {}
    for line in (shell.read("/proc/self/mountinfo") or "").splitlines():
        fields = line.split()
        if len(fields) > 4:
            roots[fields[4]] = (fields[2], fields[3])
    if DRIVER_ROOT not in roots:
        return "none"
    device, root = roots[DRIVER_ROOT]
    if root.endswith("//deleted"):
        return "deleted"
    return "root" if (device, root) == roots.get("/") else "other"


def driver_ready(shell: Shell) -> Literal["absent", "host", "container"]:
    text = shell.read(DRIVER_READY)
    if text is None:
        return "absent"
    return "host" if "IS_HOST_DRIVER=true" in text else "container"


def prebaked(shell: Shell) -> str:
    text = shell.read(PREBAKED_MARKER)
    if text is None:
        return ""
    found = VERSION.search(text)
    return found[0] if found else "unknown"


def gpu_processes(shell: Shell) -> tuple[Process, ...]:
    """Processes that have a device node of the driver open, without the daemons that UNLOAD stops."""
    holders: list[Process] = []
    for process in shell.path("/proc").glob("[0-9]*"):
        name = (shell.read(f"/proc/{process.name}/comm") or "").strip()
        if name not in DAEMONS and any(target.startswith("/dev/nvidia") for target in _open_files(process)):
            pod = pod_of(shell.read(f"/proc/{process.name}/cgroup") or "")
            holders.append(Process(plain(name), int(process.name), pod))
    return tuple(sorted(holders))


def pod_of(cgroup: str) -> str:
    """The uid of the Pod in /proc/<pid>/cgroup; kubelet's systemd driver writes its dashes as underscores."""
    found = POD_CGROUP.search(cgroup)
    return found[1].replace("_", "-") if found else ""


def kernel_users(shell: Shell, modules: dict[str, Module]) -> tuple[str, ...]:
    """Modules of others that use the driver's: gdrdrv, nvidia_fs. While they are loaded, it can't be unloaded."""
    names = {path.name for module in modules for path in shell.path(f"/sys/module/{module}/holders").glob("*")}
    return tuple(sorted(names - {*MODULES}))


def missing_nodes(shell: Shell, gpus: int) -> tuple[str, ...]:
    """Device nodes that CUDA needs and that do not exist."""
    missing = [name for name in ("/dev/nvidiactl", "/dev/nvidia-uvm") if not shell.path(name).exists()]
    found = [path for path in shell.path("/dev").glob("nvidia[0-9]*") if path.name[len("nvidia") :].isdigit()]
    return (*missing, *(f"/dev/nvidia{number}" for number in range(len(found), gpus)))


def _open_files(process: Path) -> Iterator[str]:
    with contextlib.suppress(OSError):  # the process ended
        for link in (process / "fd").iterdir():
            with contextlib.suppress(OSError):  # the file was closed
                yield os.readlink(link)


def packaged(shell: Shell) -> tuple[str, ...]:
    """Driver packages that dpkg has installed."""
    patterns = ("nvidia-driver-*", "nvidia-dkms-*", "nvidia-kernel-*", "libnvidia-compute-*")
    found = shell.run("dpkg-query", "-W", "-f", "${Package}\\t${db:Status-Status}\\n", *patterns)
    lines = (line.split("\t") for line in found.out.splitlines() if "\t" in line)
    return tuple(sorted(name for name, status in lines if status == "installed"))


def record(shell: Shell, path: str) -> Record | None:
    found = shell.read_json(path)
    keys = ("version", "sha256", "module_type", "kernel")
    return Record(*(str(found.get(key, "")) for key in keys)) if found else None


def writable(path: Path) -> bool:
    try:
        return not os.statvfs(path).f_flag & os.ST_RDONLY
    except OSError:
        return False


def free_bytes(path: Path) -> int:
    found = os.statvfs(path)
    return found.f_bavail * found.f_frsize


def has_compiler(shell: Shell) -> bool:
    """gcc, make, and the C library's headers, which gcc only recommends and NVIDIA's installer needs."""
    programs = (shell.path(f"/usr/bin/{name}") for name in ("gcc", "make"))
    return all(is_program(path) for path in programs) and shell.path("/usr/include/stdio.h").exists()


def has_headers(shell: Shell, kernel: str) -> bool:
    build = shell.path(f"/lib/modules/{kernel}/build")
    try:
        leads_to = os.readlink(build)
    except OSError:
        leads_to = ""
    there = shell.path(leads_to) if leads_to.startswith("/") else build
    return (there / "Makefile").exists()
