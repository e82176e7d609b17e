"""Faults of what a build needs: headers, compiler, apt, the network."""

from __future__ import annotations

import hashlib

from tests.host.faults import Act, Fault
from tests.host.harness import Harness
from tests.host.node import KERNEL

NOUVEAU = f"version=6.8\nlicense=GPL\nvermagic={KERNEL}\ndepends=\n"
HEADERS = f"linux-headers-{KERNEL}"


def _no_headers(harness: Harness) -> None:
    harness.node.no_headers()


def _no_headers_anywhere(harness: Harness) -> None:
    harness.node.no_headers()
    harness.node.hardware(repository="gcc\nmake")


def _headers_in_the_archive(harness: Harness) -> None:
    harness.node.hardware(repository=f"gcc\nmake\n{HEADERS}")


def _no_compiler(harness: Harness) -> None:
    harness.node.run("rm", "-f", "/usr/bin/gcc", "/usr/bin/make", "/usr/bin/cc")
    harness.node.write("/var/lib/fakes/packages", f"{HEADERS}\n")


def _lock_held(harness: Harness) -> None:
    harness.node.no_headers()
    harness.unlock = harness.node.lock()


def _lock_free(harness: Harness) -> None:
    harness.unlock()


def _no_network(harness: Harness) -> None:
    harness.node.no_headers()
    harness.node.fault("network")
    harness.mirror.stop()


def _network(harness: Harness) -> None:
    harness.node.mend("network")
    harness.mirror.start()


def _archive_away(harness: Harness) -> None:
    harness.node.no_headers()
    harness.node.fault("network")


def _many_times(harness: Harness) -> None:
    def tried_often(harness: Harness) -> None:
        attempts = "apt-get:install"
        harness.wait("more attempts than installAttempts", lambda: harness.node.steps().count(attempts) > 3)
        assert not harness.stuck(), harness.state_report()

    harness.mend_later = tried_often


def _other_repository(harness: Harness) -> None:
    harness.node.no_headers()
    harness.node.fault("other-repository")


def _no_libc(harness: Harness) -> None:
    harness.node.run("rm", "-f", "/usr/include/stdio.h")
    harness.node.write("/var/lib/fakes/packages", f"{HEADERS}\ngcc\nmake\n")


def _archive_back(harness: Harness) -> None:
    harness.node.mend("network")


def _offline(content: bytes, given: bytes) -> Act:
    def act(harness: Harness) -> None:
        harness.node.no_headers()
        harness.mirror.files["headers.deb"] = content
        package = {
            "url": harness.mirror.url("headers.deb"),
            "sha256": hashlib.sha256(given).hexdigest(),
            "kernel": KERNEL,
        }
        harness.want(packageSource="offline", packages=[package])

    return act


def _offline_without(harness: Harness) -> None:
    harness.node.no_headers()
    harness.want(packageSource="offline", packages=[])


def _headers_by_hand(harness: Harness) -> None:
    harness.node.headers(KERNEL)


def _no_apt(harness: Harness) -> None:
    assert not [step for step in harness.node.steps() if step.startswith("apt-get")], harness.node.steps()


def _right_package(harness: Harness) -> None:
    harness.mirror.files["headers.deb"] = DEB


def _package_unopened(harness: Harness) -> None:
    installed = (harness.node.hw / "packages-installed").read_text().split()
    assert installed == [HEADERS, hashlib.sha256(DEB).hexdigest()]


DEB = f"{HEADERS}\n".encode() + bytes(2048)
AZURE_LINUX = 'NAME="Microsoft Azure Linux"\nID=azurelinux\nVERSION_ID="3.0"\nPRETTY_NAME="Microsoft Azure Linux 3.0"\n'
UBUNTU = 'NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="22.04"\nPRETTY_NAME="Ubuntu 22.04.5 LTS"\n'

FAULTS = (
    Fault(
        "kernel headers are missing",
        "recovers",
        "Installs them from the distribution's archive.",
        disk=_no_headers,
        deep=True,
    ),
    Fault(
        "the compiler is missing",
        "recovers",
        "Installs it from the distribution's archive.",
        live=_no_compiler,
        deep=True,
    ),
    Fault(
        "the archive has no headers for this kernel",
        "stops",
        "Runs no installer; stops and names the package.",
        disk=_no_headers_anywhere,
        says=r"linux-headers-6",
        mend=_headers_in_the_archive,
        runs_nothing=True,
        gate="closed",
        deep=True,
    ),
    Fault(
        "another program holds the lock of apt",
        "waits",
        "Waits for the lock, then retries with pauses; kills no process.",
        live=_lock_held,
        says=r"(?i)lock",
        mend=_lock_free,
        runs_nothing=True,
    ),
    Fault(
        "the node has no network",
        "waits",
        "Asks again with growing pauses and goes on when the network is back.",
        live=_no_network,
        says=r"(?i)refused",
        mend=_network,
        runs_nothing=True,
        deep=True,
    ),
    Fault(
        "the package archive can't be reached",
        "waits",
        "Asks again with growing pauses and apt's message, and goes on when the archive is back.",
        disk=_archive_away,
        live=_many_times,
        says=r"Failed to fetch",
        mend=_archive_back,
        runs_nothing=True,
        gate="closed",
        deep=True,
    ),
    Fault(
        "another repository is broken",
        "recovers",
        "Installs the headers from the archive anyway.",
        disk=_other_repository,
        deep=True,
    ),
    Fault(
        "the headers of the C library are missing",
        "recovers",
        "Installs them from the distribution's archive: gcc only recommends them.",
        live=_no_libc,
        deep=True,
    ),
    Fault(
        "no archive at all, headers given by address",
        "recovers",
        "Downloads, checks and installs the given packages; never calls apt.",
        disk=_offline(DEB, DEB),
        then=_no_apt,
        deep=True,
    ),
    Fault(
        "no archive at all, and no headers given",
        "stops",
        "Stops and says which headers it needs; never calls apt.",
        disk=_offline_without,
        says=r"(?i)headers .* missing",
        mend=_headers_by_hand,
        runs_nothing=True,
        then=_no_apt,
        deep=True,
    ),
    Fault(
        "a given package has another checksum",
        "stops",
        "Never opens it; stops and names it.",
        disk=_offline(DEB + b"!", DEB),
        says=r"(?i)sha256|checksum",
        mend=_right_package,
        runs_nothing=True,
        then=_package_unopened,
        deep=True,
    ),
)
