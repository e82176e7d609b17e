"""A GPU node as the tests see it: its hardware, what is on its disk, its faults, its boots."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.host.installers import MODULES, Flavour, module
from tests.host.namespaces import FAKES, Booted, Network, scratch
from tests.host.node_faults import FaultyTools
from tests.support.waiting import LIMIT

KERNEL, NEXT_KERNEL = "6.8.0-1041-azure", "6.8.0-1044-azure"
RTX_PRO_6000 = "0002:00:00.0 0x10de 0x2bb5 0x030200"
SBIN = (
    "modprobe",
    "rmmod",
    "lsmod",
    "modinfo",
    "depmod",
    "ldconfig",
    "update-initramfs",
    "dkms",
    "reboot",
    "shutdown",
    "poweroff",
)
OURS = ("lib.sh", "supervise", "nvidia-uninstall", "nvidia-smi", "nvidia-modprobe", "installer.sh", "boot.sh")


class Node(FaultyTools):
    """One node. Its disk outlives `reboot`; `hw` is the machine under the operating system."""

    def __init__(self, name: str = "rtx-0") -> None:
        self.name = name
        self.where = Path(tempfile.mkdtemp(prefix="grid-node-", dir=scratch()))
        super().__init__(self.where / "hw")
        for folder in ("upper", "work", "hw/hold", "hw/held", "hw/faults"):
            (self.where / folder).mkdir(parents=True)
        self.network = Network()
        self._booted: Booted | None = None
        self._hardware(
            name=name,
            kernel=KERNEL,
            machine="x86_64",
            secureboot="0",
            gpu="1",
            needs="open",
            mig="1",
            modules="",
            pci=RTX_PRO_6000,
            repository="\n".join(
                [f"linux-headers-{kernel}" for kernel in (KERNEL, NEXT_KERNEL)]
                + ["build-essential", "gcc", "make", "libc6-dev", "dkms", "pkg-config", "libglvnd-dev"]
            ),
            steps="",
            executed="",
        )
        self._disk()

    # -- before the first boot, or between boots

    def _hardware(self, **settings: str) -> None:
        for name, value in settings.items():
            # In place: single files of this folder are mounted on the node.
            (self.hw / name).write_text(value + "\n" if value else "")

    def hardware(self, **settings: str) -> None:
        """Change the machine: kernel, machine (its architecture), secureboot, gpu, needs (flavour), mig, pci …"""
        self._hardware(**settings)

    def _disk(self) -> None:
        binaries, sbin = self.where / "upper/usr/bin", self.where / "upper/usr/sbin"
        library = self.where / "upper/usr/local/lib/fakes"
        for folder in (binaries, sbin, library):
            folder.mkdir(parents=True)
        for tool in FAKES.iterdir():
            if tool.name in OURS:
                shutil.copy(tool, library / tool.name)
            elif not tool.name.startswith("."):
                shutil.copy(tool, (sbin if tool.name in SBIN else binaries) / tool.name)
        for name in ("shutdown", "poweroff"):
            shutil.copy(FAKES / "reboot", sbin / name)
        if not Path("/usr/bin/python3").exists():
            (binaries / "python3").symlink_to(Path(sys.executable).resolve())
        self.write(
            "/etc/os-release", 'NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="22.04"\nPRETTY_NAME="Ubuntu 22.04.5 LTS"\n'
        )
        self.write(
            "/usr/lib/os-release", 'NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="22.04"\nPRETTY_NAME="Ubuntu 22.04.5 LTS"\n'
        )
        self.write(
            "/var/lib/fakes/packages",
            f"linux-headers-{KERNEL}\nbuild-essential\ngcc\nmake\nlibc6-dev\ndkms\npkg-config\nlibglvnd-dev\n",
        )
        self.headers(KERNEL)
        self.write("/usr/include/stdio.h", "")
        for name in ("gcc", "make"):
            if not Path("/usr/bin", name).exists():
                self.write(f"/usr/bin/{name}", "#!/bin/sh\n", mode=0o755)

    def headers(self, kernel: str) -> None:
        """The headers of a kernel, installed."""
        self.write(f"/usr/src/linux-headers-{kernel}/Makefile", "all:\n")
        build = self.path(f"/lib/modules/{kernel}/build")
        build.parent.mkdir(parents=True, exist_ok=True)
        if not build.is_symlink():
            build.symlink_to(f"/usr/src/linux-headers-{kernel}")

    def no_headers(self) -> None:
        """As on a minimal image."""
        shutil.rmtree(self.path("/usr/src/linux-headers-" + KERNEL))
        self.path(f"/lib/modules/{KERNEL}/build").unlink()
        self.write("/var/lib/fakes/packages", "gcc\nmake\nlibc6-dev\n")

    def driver(
        self,
        version: str,
        *,
        flavour: Flavour = "open",
        libraries: str = "",
        grid: bool = True,
        kernel: str = KERNEL,
        dkms: bool = False,
    ) -> None:
        """Put a driver on the disk as an installer would leave it."""
        place = f"/lib/modules/{kernel}/" + ("updates/dkms" if dkms else "kernel/drivers/video")
        for name, needs in MODULES.items():
            self.write(f"{place}/{name.replace('_', '-')}.ko", module(version, kernel, flavour, needs))
        text = (FAKES / "nvidia-smi").read_text().replace("@VERSION@", libraries or version)
        self.write("/usr/bin/nvidia-smi", text, mode=0o755)
        self.write(f"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.{libraries or version}", "")
        self.write("/var/lib/nvidia/log", f"{version} {kernel} {flavour}\n")
        for tool in ("nvidia-uninstall", "nvidia-modprobe"):
            self.write(f"/usr/bin/{tool}", (FAKES / tool).read_text(), mode=0o755)
        if dkms:
            self.path(f"/var/lib/dkms/nvidia/{version}").mkdir(parents=True, exist_ok=True)
        if grid:
            self.write("/usr/bin/nvidia-gridd", "#!/bin/sh\n", mode=0o755)
            self.write("/usr/lib/systemd/system/nvidia-gridd.service", "[Service]\nExecStart=/usr/bin/nvidia-gridd\n")

    # -- files

    def path(self, path: str) -> Path:
        """Where a file of the node is, seen from here: through the running node, or in its disk while it is off."""
        inside = path.lstrip("/")
        if self._booted:
            return self._booted.root / inside
        if inside.startswith("lib/"):
            inside = "usr/" + inside
        return self.where / "upper" / inside

    def write(self, path: str, text: str | bytes, mode: int = 0o644) -> None:
        target = self.path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        target.chmod(mode)

    def read(self, path: str) -> str | None:
        """The text of a file, or nothing."""
        try:
            return self.path(path).read_text(errors="replace").strip()
        except (FileNotFoundError, NotADirectoryError):
            return None

    # -- boots

    def boot(self) -> None:
        self._booted = Booted(self.where, self.network)

    @property
    def up(self) -> Booted:
        if not self._booted:
            raise RuntimeError("the node is off")
        return self._booted

    def off(self) -> None:
        """Pull the plug."""
        if self._booted:
            self._booted.off()
            self._booted = None
        # An overlay's work folder belongs to one mount.
        shutil.rmtree(self.where / "work")
        (self.where / "work").mkdir()

    def reboot(self, kernel: str | None = None) -> None:
        self.off()
        if kernel:
            self.hardware(kernel=kernel)
        self.boot()

    def remove(self) -> None:
        if self._booted:
            self.off()
        self.network.close()
        shutil.rmtree(self.where, ignore_errors=True)

    def run(self, *arguments: str, within: float = LIMIT) -> subprocess.CompletedProcess[str]:
        """Run a program on the node, as a person with root would."""
        return subprocess.run(
            self.up.command(arguments),
            capture_output=True,
            text=True,
            timeout=within,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    # -- what is there

    def loaded(self) -> dict[str, str]:
        """Loaded modules → version."""
        folder = self.path("/sys/module")
        return {
            entry.name: (entry / "version").read_text().strip()
            for entry in sorted(folder.iterdir())
            if not entry.name.startswith(".")
        }

    def executed(self) -> list[tuple[str, str, str]]:
        """(version, sha256, path) of every installer that was run."""
        lines = (self.hw / "executed").read_text().splitlines()
        return [(line.split(" ", 2)[0], line.split(" ", 2)[1], line.split(" ", 2)[2]) for line in lines]

    def used_by(self, other: str, module: str = "nvidia") -> None:
        """A module of others uses the driver's."""
        self.run("sh", "-c", f": > /sys/module/{module}/holders/{other}")

    def unused_by(self, other: str, module: str = "nvidia") -> None:
        self.run("rm", f"/sys/module/{module}/holders/{other}")

    def busy(self, module: str = "nvidia_uvm") -> None:
        """A process outside of any pod holds the GPU, and with it the module."""
        self.write("/dev/nvidia0", "")
        self.run(
            "sh",
            "-c",
            f"echo 1 > /sys/module/{module}/refcnt; exec 3< /dev/nvidia0; "
            "setsid sleep 2147483 < /dev/null > /dev/null 2>&1 & echo $! > /hw/holder",
        )

    def idle(self, module: str = "nvidia_uvm") -> None:
        """That process ends."""
        self.run("sh", "-c", f"kill $(cat /hw/holder); echo 0 > /sys/module/{module}/refcnt")

    def lock(self, path: str = "/var/lib/dpkg/lock-frontend") -> Callable[[], None]:
        """Hold a lock file of dpkg as unattended-upgrades would; the returned function releases it."""
        held = "print('held', flush=True); sys.stdin.read()"
        program = f"import fcntl, sys; f = open({path!r}, 'a'); fcntl.lockf(f, fcntl.LOCK_EX); {held}"
        command = self.up.command(["/usr/bin/python3", "-c", program])
        holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert holder.stdout
        assert holder.stdout.readline() == b"held\n"

        def unlock() -> None:
            holder.communicate(timeout=LIMIT)

        return unlock
