"""Namespaces of one simulated node: where programs run as root and cannot touch the machine of the tests.

A node is an overlay of this root filesystem in mount, PID, UTS and IPC namespaces that a boot makes again, and a
network namespace that outlives its boots, so that the servers beside it stay reachable. Sockets of those servers are
opened inside that network namespace and served from the test's own process.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import psutil

from tests.support.waiting import LIMIT, until

FAKES = Path(__file__).parent / "fakes"
CLONE_NEWNET = 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1
T = TypeVar("T")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def scratch() -> Path:
    """A folder on another filesystem than the root's: an overlay of `/` refuses layers that lie below it."""
    return Path("/dev/shm")  # noqa: S108 - the one tmpfs that every Linux has


def why_not() -> str | None:
    """One word on why no node can be made here, or nothing."""
    if sys.platform != "linux":
        return "linux: nodes are Linux namespaces"
    if os.geteuid() != 0:
        return "root: nodes are made as root"
    missing = [tool for tool in ("unshare", "nsenter", "mount", "pivot_root", "setsid") if not shutil.which(tool)]
    if missing:
        return f"tools: {', '.join(missing)} not found"
    if not scratch().is_dir() or os.stat(scratch()).st_dev == os.stat("/").st_dev:
        return "scratch: /dev/shm is not a filesystem of its own"
    probe = scratch() / f"overlay-probe-{os.getpid()}"
    try:
        for name in ("upper", "work", "root"):
            (probe / name).mkdir(parents=True)
        layers = f"lowerdir=/,upperdir={probe}/upper,workdir={probe}/work"
        mounts = [
            "mount --make-rprivate /",
            f"mount -t overlay overlay -o {layers} {probe}/root",
            f"mount -t proc p {probe}/root/proc",
        ]
        flags = ["--mount", "--pid", "--net", "--uts", "--ipc", "--fork"]
        done = subprocess.run(
            ["unshare", *flags, "sh", "-c", " && ".join(mounts)], capture_output=True, text=True, check=False
        )
        said = (done.stderr.strip() or f"exit {done.returncode}").splitlines()
        return f"namespaces: {said[-1]}" if done.returncode else None
    finally:
        shutil.rmtree(probe, ignore_errors=True)


class Network:
    """A network namespace with loopback up and nothing else."""

    def __init__(self) -> None:
        self.handle = -1
        self._in_thread(self._make)

    def _make(self) -> None:
        _libc("unshare", CLONE_NEWNET)
        self.handle = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            request = struct.pack("16sh", b"lo", 0)
            flags = struct.unpack("16sh", fcntl.ioctl(control, SIOCGIFFLAGS, request))[1]
            fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh", b"lo", flags | IFF_UP))

    def inside(self, act: Callable[[], T]) -> T:
        """The result of a function that runs inside the namespace."""

        def enter() -> T:
            _libc("setns", self.handle, CLONE_NEWNET)
            return act()

        return self._in_thread(enter)

    def listen(self, port: int) -> socket.socket:
        """A listening socket on loopback inside the namespace."""

        def bind() -> socket.socket:
            _libc("setns", self.handle, CLONE_NEWNET)
            return socket.create_server(("127.0.0.1", port), backlog=64)

        return self._in_thread(bind)

    def connect(self, port: int) -> socket.socket:
        """A connection to loopback inside the namespace."""

        def join() -> socket.socket:
            _libc("setns", self.handle, CLONE_NEWNET)
            return socket.create_connection(("127.0.0.1", port), timeout=LIMIT)

        return self._in_thread(join)

    def close(self) -> None:
        os.close(self.handle)

    @staticmethod
    def _in_thread(act: Callable[[], T]) -> T:
        """Namespaces belong to threads: what is done in one leaves the others where they are."""
        answers: list[T] = []
        faults: list[BaseException] = []

        def run() -> None:
            try:
                answers.append(act())
            except BaseException as fault:
                faults.append(fault)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        if faults:
            raise faults[0]
        return answers[0]


class Booted:
    """The processes of one boot. All of them die with the first."""

    def __init__(self, where: Path, network: Network) -> None:
        (where / "hw/booted").unlink(missing_ok=True)
        flags = ["--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child"]
        self._outer = subprocess.Popen(
            [
                "nsenter",
                f"--net=/proc/self/fd/{network.handle}",
                "unshare",
                *flags,
                "sh",
                str(FAKES / "boot.sh"),
                str(where),
            ],
            pass_fds=(network.handle,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(log := (where / "boot.log").open("w")),
        )
        log.close()

        def up() -> bool:
            if self._outer.poll() is not None:
                raise RuntimeError(f"the node did not boot: {(where / 'boot.log').read_text()}")
            return (where / "hw/booted").exists()

        until(up, "the node does not boot", every=0.01)
        self.init = psutil.Process(self._outer.pid).children()[0].pid
        self.root = Path(f"/proc/{self.init}/root")

    def command(self, arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> list[str]:
        """The command line that runs a program on the node with nothing of the test's environment."""
        variables = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", **(environment or {})}
        enter = ["nsenter", "--target", str(self.init), "--mount", "--pid", "--uts", "--ipc", "--net"]
        return [*enter, "env", "-i", *(f"{name}={value}" for name, value in variables.items()), *arguments]

    def processes(self, mark: str) -> list[int]:
        """Processes of the node whose environment holds the mark, by their ids out here."""
        found: list[int] = []
        here = os.stat(f"/proc/{self.init}/ns/pid").st_ino
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if os.stat(entry / "ns/pid").st_ino == here and mark.encode() in (entry / "environ").read_bytes().split(
                    b"\0"
                ):
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def off(self) -> None:
        """Power off: no process gets a word."""
        os.kill(self.init, signal.SIGKILL)
        self._outer.wait(LIMIT)


def _libc(function: str, *arguments: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, function)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{function}: {os.strerror(number)}")
