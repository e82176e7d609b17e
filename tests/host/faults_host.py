"""Faults of the host: kernel, hardware, what is loaded."""

from __future__ import annotations

from collections.abc import Callable

from tests.host.faults import Act, Fault
from tests.host.harness import Harness
from tests.host.installers import NEW, OLD
from tests.host.node import KERNEL, NEXT_KERNEL

NOUVEAU = f"version=6.8\nlicense=GPL\nvermagic={KERNEL}\ndepends=\n"
HEADERS = f"linux-headers-{KERNEL}"


def _hardware(**settings: str) -> Act:
    def act(harness: Harness) -> None:
        harness.node.hardware(**settings)

    return act


def _rebooted(**settings: str) -> Act:
    def act(harness: Harness) -> None:
        harness.reboot(**settings)

    return act


def _system(text: str) -> Act:
    def act(harness: Harness) -> None:
        harness.node.write("/etc/os-release", text)
        harness.node.write("/usr/lib/os-release", text)

    return act


def _other_gpu(harness: Harness) -> None:
    harness.node.hardware(pci="0002:00:00.0 0x10de 0x2331 0x030200")
    harness.want(devices=["10de:2bb5"])


def _nouveau(harness: Harness) -> None:
    harness.node.write(f"/lib/modules/{KERNEL}/kernel/drivers/gpu/nouveau.ko", NOUVEAU)
    harness.node.write(f"/lib/modules/{KERNEL}/kernel/drivers/video/nouveau.ko", NOUVEAU)
    harness.node.hardware(**{"loads-at-boot": "nouveau"})


def _nouveau_stays_out(harness: Harness) -> None:
    assert "nouveau" not in harness.node.loaded()
    harness.reboot()
    harness.wait("it serves after a reboot", lambda: harness.ready() and harness.serves(NEW))
    assert "nouveau" not in harness.node.loaded()


def _users(module: str, count: int) -> Act:
    def act(harness: Harness) -> None:
        harness.node.write(f"/sys/module/{module}/refcnt", f"{count}\n")

    return act


def _bus(harness: Harness) -> None:
    harness.node.fault("bus", once=True)


def _bus_late(harness: Harness) -> None:
    harness.node.fault("bus-late", once=True)


def _failed_fetches(count: int) -> Act:
    def act(harness: Harness) -> None:
        assert harness.memory["failed"].get("fetch", 0) == count, harness.state_report()

    return act


def _module_of_others(harness: Harness) -> None:
    harness.node.used_by("gdrdrv")
    harness.want(harness.new)


def _module_of_others_gone(harness: Harness) -> None:
    harness.node.unused_by("gdrdrv")


def _old(harness: Harness) -> None:
    harness.want(harness.old)


def _old_driver_in_use(harness: Harness) -> None:
    harness.node.driver(OLD)
    harness.node.run("modprobe", "nvidia_uvm")
    harness.node.run("modprobe", "nvidia_modeset")
    harness.node.busy()


def _free(harness: Harness) -> None:
    harness.node.idle()


def _both(*acts: Act) -> Act:
    def act(harness: Harness) -> None:
        for one in acts:
            one(harness)

    return act


def _read_only(harness: Harness) -> None:
    (harness.node.hw / "usr-is-read-only").touch()


def _writable(harness: Harness) -> None:
    (harness.node.hw / "usr-is-read-only").unlink()
    harness.reboot()


def _kernel_changed(harness: Harness) -> None:
    harness.reboot(kernel=NEXT_KERNEL)


def _built_for(kernel: str) -> Callable[[Harness], None]:
    def act(harness: Harness) -> None:
        assert harness.node.run("modinfo", "-F", "vermagic", "nvidia").stdout.strip() == kernel

    return act


DEB = f"{HEADERS}\n".encode() + bytes(2048)
AZURE_LINUX = 'NAME="Microsoft Azure Linux"\nID=azurelinux\nVERSION_ID="3.0"\nPRETTY_NAME="Microsoft Azure Linux 3.0"\n'
UBUNTU = 'NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="22.04"\nPRETTY_NAME="Ubuntu 22.04.5 LTS"\n'

FAULTS = (
    Fault(
        "the kernel changed since",
        "recovers",
        "Installs the driver for the running kernel.",
        served=True,
        live=_kernel_changed,
        then=_built_for(NEXT_KERNEL),
        deep=True,
    ),
    Fault(
        "a process holds the old driver",
        "waits",
        "Leaves the old driver alone, names the process, goes on when it ends.",
        live=_old_driver_in_use,
        says=r"sleep",
        mend=_free,
        runs_nothing=True,
        still=OLD,
    ),
    Fault(
        "a module of others uses the driver that serves",
        "waits",
        "Names it and leaves the driver and the gate as they are; goes on when it is unloaded.",
        disk=_old,
        served=True,
        live=_module_of_others,
        says="module gdrdrv",
        mend=_module_of_others_gone,
        still=OLD,
        gate="open",
        deep=True,
    ),
    Fault(
        "nouveau is loaded", "recovers", "Unloads it and keeps it out for good.", disk=_nouveau, then=_nouveau_stays_out
    ),
    Fault(
        "nouveau is loaded and in use",
        "stops",
        "Tries as often as configured, runs no installer, says what to do.",
        disk=_nouveau,
        live=_users("nouveau", 1),
        says="(?i)nouveau",
        mend=_both(_users("nouveau", 0)),
        runs_nothing=True,
        deep=True,
    ),
    Fault(
        "systemd refuses to start a job once",
        "recovers",
        "Counts one failed attempt, and tries again.",
        disk=_bus,
        then=_failed_fetches(1),
        deep=True,
    ),
    Fault(
        "systemd confirms the start of a job too late",
        "recovers",
        "Finds the job running, and counts no failed attempt.",
        disk=_bus_late,
        then=_failed_fetches(0),
        deep=True,
    ),
    Fault(
        "Secure Boot is on",
        "stops",
        "Touches nothing: unsigned modules would not load. Says how the pool has to be made.",
        disk=_hardware(secureboot="1"),
        says="(?i)secure boot",
        mend=_rebooted(secureboot="0"),
        runs_nothing=True,
        gate="closed",
        deep=True,
    ),
    Fault(
        "/usr is read-only",
        "stops",
        "Touches nothing and says so.",
        disk=_read_only,
        says="(?i)read-only",
        mend=_writable,
        runs_nothing=True,
        gate="closed",
        deep=True,
    ),
    Fault(
        "the node is arm64",
        "stops",
        "Touches nothing: there is no such driver.",
        disk=_hardware(machine="aarch64"),
        says="(?i)aarch64|arm64",
        runs_nothing=True,
        gate="closed",
        serves="",
        deep=True,
    ),
    Fault(
        "the node does not run Ubuntu",
        "stops",
        "Touches nothing and names the systems it knows.",
        disk=_system(AZURE_LINUX),
        says="(?i)azurelinux",
        mend=_system(UBUNTU),
        runs_nothing=True,
        gate="closed",
        deep=True,
    ),
    Fault(
        "no GPU is on the bus",
        "stops",
        "Touches nothing and says so.",
        disk=_hardware(pci="", gpu="0"),
        says=r"no NVIDIA GPU",
        mend=_rebooted(pci="0002:00:00.0 0x10de 0x2bb5 0x030200", gpu="1"),
        runs_nothing=True,
        gate="closed",
        deep=True,
    ),
    Fault(
        "the GPU is of another kind",
        "stops",
        "Touches nothing and names what it found.",
        disk=_other_gpu,
        says="10de:2331",
        runs_nothing=True,
        gate="closed",
        serves="",
        deep=True,
    ),
    Fault(
        "the driver is known not to build on this kernel",
        "stops",
        "Touches nothing and names the kernel.",
        disk=_hardware(kernel="6.11.0-1015-azure"),
        says=r"6\.11",
        mend=_rebooted(kernel=KERNEL),
        runs_nothing=True,
        gate="closed",
        deep=True,
    ),
)
