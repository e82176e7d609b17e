"""Fixtures with real processes: a control plane on loopback, and a home apart from the user's own."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from physical_ai.catalog import newest_release
from simulator import resident
from simulator.clock import IDLE_VARIABLE
from simulator.control_plane import ControlPlane
from simulator.engine import STATE_AT_THE_END
from simulator.entra import tokens_file
from simulator.home import HOME_VARIABLE, Home
from simulator.kubernetes import Client
from simulator.kubernetes.client import APPLY_PATCH
from simulator.kubernetes.provider import Kubernetes
from simulator.simulation import Simulation
from simulator.tools import FAMILIES, KUBECTL, toolbox
from tests.simulator.homes import Homes, wipe
from tests.simulator.pods import end_all
from tests.simulator.snapshots import Snapshots
from tests.support.cluster_report import reports
from tests.support.simulated_cluster import SimulatedCluster, simulated_cluster

DEFAULT_STACK = "dev-westus2"
BASE = pytest.StashKey[Path]()
"""The worker's folder of temporary folders, in which its clusters are."""

ENVIRONMENT = {
    # However long a busy machine takes between two commands, idle nodes are there for the second one.
    IDLE_VARIABLE: "3600",
    # Just below the bound of a test, so that a closed gate is named. Tests of the bound itself set their own.
    "PHYSICAL_AI_GATE_SECONDS": "840",
    # A fifth less CPU for API servers and engines that live for a minute: only large ones collect garbage.
    "GOGC": "off",
    "GOMEMLIMIT": "1GiB",
    # Tests of runs that are killed use `saved_at_each_step`.
    **STATE_AT_THE_END,
}


ENDS: dict[str, Callable[[Any], None]] = {
    "shared_deployment": lambda simulation: wipe(simulation.home),
    "api_server": lambda server: server.plane.wipe(),
}
"""What ends a control plane that tests of several modules share."""
SHARED = pytest.StashKey[dict[str, Any]]()
"""Those that have not ended, by their fixtures."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None]:
    """Ends a control plane that tests share with the last of them: it would take processor time from all that follow.

    Tests that share one follow each other, see `tests/conftest.py`. Fixtures of a module may need it until the module
    ends, also where the module's last tests do not use it themselves.
    """
    shared = item.session.stash.setdefault(SHARED, {})
    shared |= {name: value for name, value in getattr(item, "funcargs", {}).items() if name in ENDS}
    yield
    if nextitem is None or nextitem.path != item.path:
        for name in shared.keys() - set(getattr(nextitem, "fixturenames", ())):
            ENDS[name](shared.pop(name))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds to a failure what the worker's clusters look like."""
    report = yield
    if report.failed:
        report.sections += reports(item.config.stash[BASE]).items()
    return report


@pytest.fixture(scope="session", autouse=True)
def environment(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Variables and signals of everything that tests of the simulator start."""
    pytestconfig.stash[BASE] = tmp_path_factory.getbasetemp()
    # The shell of a script that starts the tests with `&` makes them ignore interrupts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(autouse=True)
def kept_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps the process that has loaded the program when a home's last simulation ends: it serves other homes too."""

    def end(home: Path) -> None:
        """Replaces `resident.end`."""

    monkeypatch.setattr(resident, "end", end)


@pytest.fixture
def saved_at_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine writes its state as it does for users."""
    for name in STATE_AT_THE_END:
        monkeypatch.delenv(name)


@dataclass(frozen=True)
class ApiServer:
    """An empty cluster, and an administrator's way in."""

    plane: ControlPlane
    kubeconfig: str
    path: Path


@pytest.fixture(scope="session")
def users_tools() -> Path:
    """The user's own cache of built commands, filled when it is empty."""
    tools = Home.of_user().tools
    toolbox(tools, families=(*FAMILIES, KUBECTL))
    return tools


@pytest.fixture(scope="session")
def api_server(users_tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    with _running(users_tools, tmp_path_factory.mktemp("api-server")) as server:
        yield server


@pytest.fixture(scope="module")
def own_api_server(users_tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """For tests that delete definitions: an API server may take minutes to let go of one."""
    with _running(users_tools, tmp_path_factory.mktemp("own-api-server")) as server:
        yield server


@pytest.fixture(scope="session")
def homes(users_tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Homes]:
    made = Homes(users_tools, tmp_path_factory.mktemp("programs"))
    yield made
    made.end_programs()


@contextmanager
def _running(tools: Path, folder: Path) -> Generator[ApiServer]:
    plane = ControlPlane(folder / "plane", toolbox(tools), tokens_file(folder))
    plane.start()
    path = folder / "kubeconfig"
    path.write_text(plane.admin_kubeconfig())
    try:
        yield ApiServer(plane, plane.admin_kubeconfig(), path)
    finally:
        plane.wipe()


@pytest.fixture
def home(homes: Homes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A simulator's home of the test's own; the command line of the test uses it too.

    What is left running in it ends with the test.
    """
    made = homes.make(tmp_path / "home")
    monkeypatch.setenv(HOME_VARIABLE, str(made.folder))
    yield made
    wipe(made)


@pytest.fixture(scope="session")
def snapshots(homes: Homes, tmp_path_factory: pytest.TempPathFactory) -> Snapshots:
    """One folder for all workers of the session."""
    own = tmp_path_factory.getbasetemp()
    return Snapshots((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "snapshots", homes)


@pytest.fixture
def deployed(home: Home, snapshots: Snapshots) -> Simulation:
    """The default stack as `physai up` leaves it, in the test's own home."""
    return snapshots.restore(home, DEFAULT_STACK)


@pytest.fixture
def stopped(home: Home, snapshots: Snapshots) -> Simulation:
    """The files of `deployed`, without any process: what a laptop finds after a restart."""
    return snapshots.copy(home, DEFAULT_STACK)


@pytest.fixture(scope="session")
def shared_home(homes: Homes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    made = homes.make(tmp_path_factory.mktemp("shared"))
    yield made
    wipe(made)


@pytest.fixture(scope="session")
def shared_deployment(shared_home: Home, snapshots: Snapshots) -> Simulation:
    return snapshots.restore(shared_home, DEFAULT_STACK)


@pytest.fixture
def running(shared_deployment: Simulation, monkeypatch: pytest.MonkeyPatch) -> Simulation:
    """The default stack, running, for tests that leave it as they find it."""
    monkeypatch.setenv(HOME_VARIABLE, str(shared_deployment.home.folder))
    return shared_deployment


@pytest.fixture
def running_to_the_end(running: Simulation) -> Simulation:
    """The default stack, running, for a test that takes it down: see `tests/conftest.py`."""
    return running


@pytest.fixture(scope="session")
def shared_cluster(api_server: ApiServer, users_tools: Path) -> SimulatedCluster:
    return simulated_cluster(api_server.kubeconfig, toolbox(users_tools).path("helm"))


@pytest.fixture
def cluster(shared_cluster: SimulatedCluster) -> Iterator[SimulatedCluster]:
    """A cluster with one node of the cpu pool, and nothing of another test in it."""
    shared_cluster.clear()
    shared_cluster.definitions(newest_release().version)
    shared_cluster.join("cpu-0", "Standard_D8ds_v5", pool="cpu")
    yield shared_cluster
    shared_cluster.clear()


@pytest.fixture(scope="session")
def client(api_server: ApiServer) -> Client:
    return Client(api_server.kubeconfig)


@pytest.fixture
def provider(api_server: ApiServer) -> Kubernetes:
    made = Kubernetes()
    made.configure({"kubeconfig": api_server.kubeconfig})
    return made


@pytest.fixture
def namespace(client: Client) -> Iterator[str]:
    name = f"test-{uuid.uuid4().hex[:8]}"
    client.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    # Pods are rejected until the namespace has its default account, which its controller creates a little later.
    path = f"/api/v1/namespaces/{name}/serviceaccounts/default"
    client.patch(path, account, APPLY_PATCH, {"fieldManager": "test"})
    yield name
    end_all(client, name)
