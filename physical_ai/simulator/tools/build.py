"""Builds the commands of the folders beside it, each with a go.mod, into a cache outside the checkout.

`go.sum` is the checksum of every byte. A family is built once for each content of its go.mod and go.sum, so a changed
pin builds beside the old one and going back costs nothing.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from physical_ai.simulator.tools.go import GoMissing, find_go

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Family:
    """Commands built from one go.mod."""

    name: str
    module: str
    """The module whose version is stamped into the commands."""
    commands: dict[str, str]
    """Name that `go build` gives a command → the name it is known by."""
    stamps: tuple[str, ...] = ()
    """Linker variables that take the version; `{v}`, `{major}` and `{minor}` are filled in."""

    @property
    def folder(self) -> Path:
        return HERE / self.name

    def version(self) -> str:
        """The pinned version, as `v1.36.3`."""
        pinned = re.search(rf"^\s*(?:require )?{re.escape(self.module)} (v\S+)", self._read("go.mod"), re.MULTILINE)
        if pinned is None:
            raise BuildFailed(f"physical_ai/simulator/tools/{self.name}/go.mod does not require {self.module}")
        return pinned[1]

    def fingerprint(self) -> str:
        """Changes whenever a build could give other bytes."""
        machine = f"{platform.system()}-{platform.machine()}"
        parts = (self._read("go.mod"), self._read("go.sum"), machine, *self.stamps)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]

    def linker_flags(self) -> str:
        version = self.version()
        major, minor, *_ = version.removeprefix("v").split(".")
        stamps = (f"-X {stamp.format(v=version, major=major, minor=minor)}" for stamp in self.stamps)
        return " ".join(("-s", "-w", *stamps))

    def _read(self, file: str) -> str:
        return (self.folder / file).read_text()


FAMILIES = (
    Family("etcd", "go.etcd.io/etcd/server/v3", {"server": "etcd"}),
    Family(
        "kubernetes",
        "k8s.io/kubernetes",
        {name: name for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")},
        # Charts and clients read the server's version; an unstamped build reports v0.0.0-master.
        (
            "k8s.io/component-base/version.gitVersion={v}",
            "k8s.io/component-base/version.gitMajor={major}",
            "k8s.io/component-base/version.gitMinor={minor}",
            "k8s.io/client-go/pkg/version.gitVersion={v}",
        ),
    ),
    Family("kwok", "sigs.k8s.io/kwok", {"kwok": "kwok"}),
    Family("helm", "helm.sh/helm/v3", {"helm": "helm"}, ("helm.sh/helm/v3/internal/version.version={v}",)),
    Family(
        "pulumi",
        "github.com/pulumi/pulumi/pkg/v3",
        {"pulumi": "pulumi"},
        ("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version={v}",),
    ),
)
"""What the simulator runs."""
LINTERS = (Family("actionlint", "github.com/rhysd/actionlint", {"actionlint": "actionlint"}),)
"""What looks at the repository's own files."""


class BuildFailed(Exception):
    """A tool could not be built; the text says which, why, and where the log is."""


@dataclass(frozen=True)
class Progress:
    """How far a build is. `packages` counts what is compiled, out of `total` that the family needs at most."""

    family: str
    packages: int
    total: int


@dataclass(frozen=True)
class Toolbox:
    """Where the built commands are."""

    folders: tuple[Path, ...]

    def path(self, command: str) -> Path:
        for folder in self.folders:
            if (folder / command).exists():
                return folder / command
        raise KeyError(command)


def toolbox(
    cache: Path, report: Callable[[Progress], None] = lambda _: None, families: Sequence[Family] = FAMILIES
) -> Toolbox:
    """All commands of the families, building in `cache` those that are missing.

    Raises:
        BuildFailed: a module cannot be fetched or compiled, or there is no Go and none can be fetched.
    """
    return Toolbox(tuple(_built(family, cache, report) for family in families))


def missing(cache: Path) -> list[str]:
    """Names of the families that `toolbox` would build."""
    return [family.name for family in FAMILIES if not _is_complete(family, _folder(family, cache))]


def _folder(family: Family, cache: Path) -> Path:
    return cache / f"{family.name}-{family.version()}-{family.fingerprint()}"


def _built(family: Family, cache: Path, report: Callable[[Progress], None]) -> Path:
    folder = _folder(family, cache)
    if _is_complete(family, folder):
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with FileLock(cache / f"{family.name}.lock"):
        if not _is_complete(family, folder):
            _build(family, folder, cache, report)
    return folder


def _is_complete(family: Family, folder: Path) -> bool:
    return all((folder / command).exists() for command in family.commands.values())


def _build(family: Family, folder: Path, cache: Path, report: Callable[[Progress], None]) -> None:
    """Builds beside the final place and renames, so that a killed build leaves nothing that looks finished."""
    try:
        go = find_go(cache)
    except GoMissing as problem:
        raise BuildFailed(str(problem)) from problem
    log = cache / f"{family.name}.log"
    work = Path(tempfile.mkdtemp(prefix=f".{family.name}-", dir=cache))
    try:
        report(Progress(family.name, 0, 0))
        total = len(_go(family, go, log, "list", "-deps", "tool"))
        command = ("build", "-v", "-trimpath", "-ldflags", family.linker_flags(), "-o", f"{work}{os.sep}", "tool")
        for done, _ in enumerate(_stream(family, go, log, *command), start=1):
            report(Progress(family.name, min(done, total), total))
        report(Progress(family.name, total, total))
        for built, known in family.commands.items():
            (work / built).rename(work / known)
        shutil.rmtree(folder, ignore_errors=True)  # what somebody has taken commands out of
        work.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _go(family: Family, go: Path, log: Path, *args: str) -> list[str]:
    return list(_stream(family, go, log, *args))


def _stream(family: Family, go: Path, log: Path, *args: str) -> Iterator[str]:
    """Lines that the go command prints, as it prints them."""
    # Flags of the user's own Go set-up (-mod=vendor, say) must not reach these modules; module proxy settings must.
    environment = {**os.environ, "GOFLAGS": "-mod=readonly -buildvcs=false", "GOWORK": "off", "CGO_ENABLED": "0"}
    with (
        log.open("w") as kept,
        subprocess.Popen(
            [go, *args],
            cwd=family.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        for line in process.stdout:
            kept.write(line)
            yield line.rstrip()
    if process.returncode:
        tail = "\n".join(f"  {line}" for line in log.read_text().splitlines()[-8:])
        raise BuildFailed(
            f"{HERE / family.name}: go {args[0]} failed with exit code {process.returncode}\n{tail}\n"
            f"  The whole log: {log}\n"
            "  Needed: the Go module proxy and some 3 GB of disk. The same command goes on where this one stopped."
        )
