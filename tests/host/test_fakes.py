"""The stand-ins refuse what the real tools refuse; without that the other tests of this folder prove nothing."""

from __future__ import annotations

import pytest

from tests.host.harness import Harness
from tests.host.installers import NEW, OLD
from tests.host.node import KERNEL, NEXT_KERNEL

pytestmark = pytest.mark.deep  # in `make test`: the agent on the same stand-ins, in the other modules of this folder
RUN = ("--silent", "-M", "open", f"--kernel-name={KERNEL}")


@pytest.fixture
def node(harness: Harness) -> Harness:
    """A node that is up, with an installer on its disk."""
    harness.boot()
    harness.node.write("/root/driver.run", harness.old.content)
    return harness


def test_a_node_is_not_this_machine(node: Harness) -> None:
    node.node.run("sh", "-c", "echo node > /etc/only-on-the-node")
    assert node.node.read("/etc/only-on-the-node") == "node"
    assert not node.node.path("/etc/only-on-the-node").samefile("/etc")
    with pytest.raises(FileNotFoundError):
        open("/etc/only-on-the-node").close()


def test_installer_brings_a_driver_that_answers_once_its_module_is_loaded(node: Harness) -> None:
    assert node.node.run("sh", "/root/driver.run", *RUN).returncode == 0
    assert node.node.run("modprobe", "nvidia_uvm").returncode == 0
    assert node.node.run("modprobe", "nvidia_modeset").returncode == 0
    assert node.serves(OLD)
    assert "MIG 4g.96gb" in node.node.run("nvidia-smi", "-L").stdout


@pytest.mark.parametrize(
    ("arrange", "says"),
    [
        ("modprobe nouveau", "Nouveau kernel driver is currently in use"),
        ("rm -r /usr/src/linux-headers-*", "kernel source tree"),
        (": > /hw/faults/fail-build", "Building kernel modules"),
        ("echo 0 > /hw/gpu", "do not appear to have an NVIDIA GPU"),
        ("echo aarch64 > /hw/machine", "intended for the Linux-x86_64 platform"),
        ("echo 1 > /hw/secureboot", "Unable to load the kernel module"),
        ("mount --bind /usr /usr && mount -o remount,ro,bind /usr", "Read-only file system"),
    ],
)
def test_installer_says_why_it_fails(node: Harness, arrange: str, says: str) -> None:
    node.node.write(
        f"/lib/modules/{KERNEL}/kernel/drivers/video/nouveau.ko", f"vermagic={KERNEL}\nversion=1\nlicense=GPL\n"
    )
    assert node.node.run("sh", "-c", arrange).returncode == 0
    done = node.node.run("sh", "/root/driver.run", *RUN)
    assert done.returncode == 1
    assert says in done.stderr


def test_libraries_of_another_version_are_refused_by_the_module(node: Harness) -> None:
    node.node.driver(OLD, libraries=NEW)
    done = node.node.run("nvidia-smi")
    assert done.returncode == 18
    assert "Driver/library version mismatch" in done.stdout


def test_modules_in_use_are_not_unloaded(node: Harness) -> None:
    node.node.driver(OLD)
    node.node.run("modprobe", "nvidia_uvm")
    done = node.node.run("rmmod", "nvidia")
    assert done.returncode == 1
    assert "in use by: nvidia_uvm" in done.stderr


def test_modules_of_another_kernel_are_not_found_after_a_reboot(node: Harness) -> None:
    node.node.driver(OLD)
    node.node.run("modprobe", "nvidia")
    node.node.reboot(NEXT_KERNEL)
    assert node.node.loaded() == {}
    assert "not found in directory" in node.node.run("modprobe", "nvidia").stderr


def test_blackwell_takes_open_modules_only(node: Harness) -> None:
    node.node.driver(OLD, flavour="proprietary")
    assert "No such device" in node.node.run("modprobe", "nvidia").stderr


def test_transient_units_outlive_their_caller_and_exist_once(node: Harness) -> None:
    unit = ("systemd-run", "--unit=long", "--no-block", "--property=RuntimeMaxSec=900", "/bin/sleep", "600")
    assert node.node.run(*unit).returncode == 0
    assert "ActiveState=active" in node.node.run("systemctl", "show", "long", "-p", "ActiveState").stdout
    assert "was already loaded" in node.node.run(*unit).stderr
    assert node.node.run("systemctl", "stop", "long").returncode == 0
    assert "LoadState=not-found" in node.node.run("systemctl", "show", "long", "-p", "LoadState").stdout


def test_units_end_when_their_time_is_over(node: Harness) -> None:
    node.node.run("systemd-run", "--unit=late", "--no-block", "--property=RuntimeMaxSec=0.2", "/bin/sleep", "20")
    node.wait("the unit failed", lambda: node.node.run("systemctl", "is-failed", "late").returncode == 0)
    assert "Result=timeout" in node.node.run("systemctl", "show", "late", "-p", "Result").stdout


def test_apt_waits_for_its_lock_as_long_as_it_is_reported(node: Harness) -> None:
    install = ("apt-get", "-o", "DPkg::Lock::Timeout=0.1", "install", "-y", "dkms")
    unlock = node.node.lock()
    assert "Could not get lock" in node.node.run(*install).stderr
    unlock()
    assert node.node.run(*install).returncode == 0


def test_validator_looks_once_and_hangs_in_init_for_good(harness: Harness) -> None:
    harness.boot()
    operator = harness.operator
    harness.wait("both operands have looked", lambda: len(operator.looks) == 2)
    harness.node.driver(NEW)
    assert harness.node.run("nvidia-smi").returncode == 0
    harness.pause(
        0.3, lambda: operator.phase("nvidia-operator-validator") == "Pending", "the validator does not look again"
    )
