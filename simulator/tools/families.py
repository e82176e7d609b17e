"""The programs that the simulator runs, in families; each family is pinned by the go.mod in a folder beside this
module.
"""

from __future__ import annotations

import fcntl
import hashlib
import platform
import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from simulator.tools.errors import BuildFailed
from simulator.tools.left_out import definitions

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Progress:
    """Progress of the build or download of one family: `done` of `total` units. `total` is 0 while the total is not
    known.
    """

    family: str
    action: Literal["build", "download", "wait", "collect", "unpack"]
    """`wait`: another process installs the family. `collect` and `unpack`: what pip does with Python packages."""
    done: int
    """Number of compiled packages, downloaded bytes, or Python packages."""
    total: int
    reason: str = ""
    """Reason why the family is built and not downloaded; empty if there is none."""
    finished: bool = False
    warning: str = ""
    """Note on a finished download that the user should know; empty if there is none."""


Report = Callable[[Progress], None]


@dataclass(frozen=True)
class Family:
    """Commands that are pinned, built and installed together, from one Go module."""

    name: str
    module: str
    """Go module whose version is written into the commands."""
    commands: dict[str, str]
    """Commands of the module. Keys: names of the files that `go build` writes. Values: names that the simulator
    uses.
    """
    stamps: tuple[str, ...] = ()
    """Linker variables that are set to the version; `{v}`, `{major}` and `{minor}` are replaced."""
    tags: tuple[str, ...] = ()
    """Build tags for `go build`."""
    seconds: int = 0
    """Seconds of one core that a build takes, for estimates. `tests/benchmarks/bench_tools.py` measures them."""
    programs: tuple[str, ...] = ("tool",)
    """Packages that `go build` compiles to the commands; by default those that go.mod names as tools."""
    pins: str = ""
    """Name of the folder with go.mod, if it is not the family's own."""

    @property
    def folder(self) -> Path:
        """Folder with the family's go.mod."""
        return HERE / (self.pins or self.name)

    def version(self) -> str:
        """The pinned version, such as `v1.36.3`."""
        pinned = re.search(rf"^\s*(?:require )?{re.escape(self.module)} (v\S+)", self._read("go.mod"), re.MULTILINE)
        if pinned is None:
            raise BuildFailed(f"simulator/tools/{self.folder.name}/go.mod does not require {self.module}")
        return pinned[1]

    def fingerprint(self) -> str:
        """Digest of everything that determines the files of a build: the pins, the options and the platform."""
        machine = f"{platform.system()}-{platform.machine()}"
        left_out = (file.read_text(encoding="utf-8") for file in definitions(self.folder))
        parts = (self._read("go.mod"), self._read("go.sum"), machine, *self.stamps, *self.tags, *left_out)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]

    def build_tags(self) -> str:
        """The option `-tags` for `go build` and `go list`."""
        return f"-tags={','.join(self.tags)}"

    def linker_flags(self) -> str:
        version = self.version()
        major, minor, *_ = version.removeprefix("v").split(".")
        stamps = (f"-X {stamp.format(v=version, major=major, minor=minor)}" for stamp in self.stamps)
        return " ".join(("-s", "-w", *stamps))

    def _read(self, file: str) -> str:
        return (self.folder / file).read_text()


def _nothing() -> None:
    """Callback that does nothing."""


@contextmanager
def locked(
    path: Path, waiting: Callable[[], None] = _nothing, obtained: Callable[[], None] = _nothing
) -> Generator[None]:
    """Holds a lock between processes while the block runs. The lock is also released when the process ends.

    Args:
        waiting: Function that is called if another process holds the lock.
        obtained: Function that is called when the wait for another process is over.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
            obtained()
        yield


HELM = Family(
    "helm", "helm.sh/helm/v3", {"helm": "helm"}, stamps=("helm.sh/helm/v3/internal/version.version={v}",), seconds=110
)
# Charts and clients read the server's version; an unstamped build reports v0.0.0-master.
_KUBERNETES_STAMPS = (
    "k8s.io/component-base/version.gitVersion={v}",
    "k8s.io/component-base/version.gitMajor={major}",
    "k8s.io/component-base/version.gitMinor={minor}",
    "k8s.io/client-go/pkg/version.gitVersion={v}",
)


def _of_kubernetes(*commands: str) -> tuple[str, ...]:
    """Packages of some of Kubernetes' commands."""
    return tuple(f"k8s.io/kubernetes/cmd/{command}" for command in commands)


_CONTROL_PLANE = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
FAMILIES = (
    Family("etcd", "go.etcd.io/etcd/server/v3", {"server": "etcd"}, seconds=70),
    Family("kwok", "sigs.k8s.io/kwok", {"kwok": "kwok"}, seconds=140),
    HELM,
    Family(
        "pulumi",
        "github.com/pulumi/pulumi/pkg/v3",
        {"pulumi": "pulumi"},
        stamps=("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version={v}",),
        seconds=150,
    ),
    Family(
        "kubernetes",
        "k8s.io/kubernetes",
        {name: name for name in _CONTROL_PLANE},
        programs=_of_kubernetes(*_CONTROL_PLANE),
        stamps=_KUBERNETES_STAMPS,
        seconds=550,
    ),
)
"""Tools that the simulator runs, the quickest build first."""
KUBECTL = Family(
    "kubectl",
    "k8s.io/kubernetes",
    {"kubectl": "kubectl"},
    programs=_of_kubernetes("kubectl"),
    pins="kubernetes",
    stamps=_KUBERNETES_STAMPS,
    seconds=60,
)
"""The command for users, which the simulator itself does not run. `physai env` installs it."""
KUBELOGIN = Family("kubelogin", "github.com/Azure/kubelogin", {"kubelogin": "kubelogin"}, stamps=("main.gitTag={v}",))
DELIVERY = (HELM, KUBELOGIN)
"""Tools, besides Pulumi, that a pipeline needs to deploy to Azure."""
LINTERS = (Family("actionlint", "github.com/rhysd/actionlint", {"actionlint": "actionlint"}),)
"""Tools that check the repository's own files."""
TELEMETRY = (
    Family(
        "prometheus",
        "github.com/prometheus/prometheus",
        {name: name for name in ("prometheus", "promtool", "alertmanager")},
        # Leaves out service discovery for clouds, which has 200 packages; discovery by HTTP and files remains.
        tags=("remove_all_sd",),
    ),
)
"""Tools that `physai up --telemetry` runs, and promtool for the tests of alert rules."""
