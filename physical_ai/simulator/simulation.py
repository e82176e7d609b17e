"""One simulated stack from nothing to deployed and back: what `physai up`, `preview`, `down` and `status` do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

import yaml
from filelock import FileLock, Timeout
from pulumi.automation.events import EngineEvent

from physical_ai.repository import ROOT
from physical_ai.simulator import program_environment
from physical_ai.simulator.azure import AzureNative, Cloud
from physical_ai.simulator.charts import chart_models, chart_source
from physical_ai.simulator.clusters import Clusters
from physical_ai.simulator.control_plane.kubeconfig import LOGIN_COMMAND
from physical_ai.simulator.engine import Engine
from physical_ai.simulator.errors import Busy, EngineFailed, EngineLost, Protected, SimulationError
from physical_ai.simulator.home import Home
from physical_ai.simulator.kubernetes import KubernetesOptions, RenderedCharts
from physical_ai.simulator.kubernetes.provider import kubernetes_provider
from physical_ai.simulator.program import import_ahead
from physical_ai.simulator.recovery import created_in
from physical_ai.simulator.stack_input import StackInput
from physical_ai.simulator.subscription import open_cloud
from physical_ai.simulator.tools import Progress, Toolbox, toolbox
from physical_ai.simulator.wire.host import ProviderHost

SIMULATED = {
    "PHYSICAL_AI_SIMULATED": "1",
    "PHYSICAL_AI_RETRY_SECONDS": "0.2",
    "PHYSICAL_AI_GATE_SECONDS": "60",
}
"""Environment variables for the program: addresses need not be real, and minutes are simulated in seconds."""


RECORD_NOTE = (
    "this stack records a past architecture: the simulated Azure takes sizes and Kubernetes versions that the real one"
    " has retired, and would refuse"
)

T = TypeVar("T")


class Reporter(Protocol):
    """Receives the progress of an operation."""

    def phase(self, name: str) -> None: ...
    def tool(self, progress: Progress) -> None: ...
    def event(self, event: EngineEvent) -> None: ...
    def note(self, text: str) -> None: ...
    def retry(self, why: str) -> None:
        """The phase starts over; discard its events so far."""
        ...


@dataclass
class Simulation:
    """The simulation of one stack, in its own folder."""

    stack: str
    home: Home = field(default_factory=Home.of_user)

    @property
    def folder(self) -> Path:
        return self.home.simulation(self.stack)

    @property
    def exists(self) -> bool:
        return self.folder.exists()

    def up(self, given: StackInput, report: Reporter) -> dict[str, Any]:
        """Deploys the stack; its plain outputs.

        Raises:
            Busy, BuildFailed, ControlPlaneFailed, EngineFailed
        """
        with self._session(report, record=given.record) as session:
            session.configure(given)
            adopted = session.recover()
            if adopted:
                report.note(f"the previous run was interrupted; {len(adopted)} resources it had created were adopted")
            report.phase("deploy")
            try:
                outputs = _retry_if_engine_lost(lambda: session.engine.up(session.providers, report.event), report)
            finally:
                self._keep_kubeconfig()
        report.phase("done")
        return outputs

    def outputs(self) -> dict[str, Any]:
        """The plain outputs of the last update, also of one that failed at its end; empty where there are none."""
        return Engine.recorded_outputs(self.folder, self.stack)

    def _keep_kubeconfig(self) -> None:
        """Without any credential: what it logs in with is `kubelogin`, as on Azure."""
        kubeconfig = self.outputs().get("kubeconfig")
        if isinstance(kubeconfig, str):
            (self.folder / "kubeconfig").write_text(kubeconfig)

    def preview(self, given: StackInput, report: Reporter, policy_packs: Sequence[Path] = ()) -> None:
        """Shows what `up` would change, and changes nothing. `policy_packs` are files that the engine can start."""
        fresh = not self.exists
        try:
            with self._session(report, spare=False, record=given.record) as session:
                session.configure(given)
                session.recover()
                report.phase("preview")
                _retry_if_engine_lost(
                    lambda: session.engine.preview(session.providers, report.event, policy_packs), report
                )
        except EngineFailed:
            if fresh:
                self.discard()
            raise
        if fresh:
            self.discard()
        report.phase("done")

    def down(self, report: Reporter) -> None:
        """Destroys the stack through the engine, then ends and removes the simulation itself.

        Raises:
            Protected: the stack's resources refuse to be deleted; nothing is removed then.
            EngineFailed: something could not be deleted; the simulation is kept.
        """
        if not self.exists:
            return
        with self._session(report, spare=False, program=False) as session:
            session.recover()
            if protected := session.engine.protected():
                raise Protected(
                    f"{self.stack} is protected: {len(protected)} of its resources refuse to be deleted.\n"
                    f"  Either lift that first:  physai up {self.stack} --set protect=false\n"
                    f"  or discard the simulation:  physai down {self.stack} --discard"
                )
            if session.engine.has_state:
                report.phase("destroy")
                session.engine.destroy(session.providers, report.event)
        report.phase("clean up")
        self.discard()
        report.phase("done")

    def discard(self) -> None:
        """Ends every process of the simulation and removes all its files, without the engine."""
        with self._lock():
            Clusters(self.folder / "clusters", Toolbox(())).wipe()
            # Renamed first: what is half removed must not look like a simulation.
            waste = self.folder.with_name(f".{self.folder.name}")
            shutil.rmtree(waste, ignore_errors=True)
            if self.exists:
                self.folder.rename(waste)
            shutil.rmtree(waste, ignore_errors=True)

    def cloud_resources(self) -> Mapping[str, Mapping[str, Any]]:
        """Everything in the simulated subscription: ARM id → `type`, `inputs` and `outputs`."""
        return self._cloud(self.clusters()).resources()

    @contextmanager
    def azure(self) -> Generator[Cloud]:
        """The simulated Azure of a running simulation, for changes that the program does not make."""
        with self._lock():
            cloud = self._cloud(self.clusters())
            cloud.settle()
            try:
                yield cloud
            finally:
                cloud.close()

    def environment(self) -> dict[str, str]:
        """Variables that make `kubectl` and `helm` use the simulated cluster, logged in as the deployer is, and the
        plain `pulumi` read the simulated stack."""
        kubeconfig = self.folder / "kubeconfig"
        if not kubeconfig.exists():
            raise SimulationError(f"{self.stack} has no simulated cluster; `physai up {self.stack}` makes one")
        tools = toolbox(self.home.tools)
        login = self.folder / "bin"
        folders = (login, *(tools.path(name).parent for name in ("kubectl", "helm", "pulumi")))
        path = os.pathsep.join((*map(str, folders), os.environ.get("PATH", "")))
        engine = Engine(self.folder, self.stack, tools, login / LOGIN_COMMAND)
        return {"KUBECONFIG": str(kubeconfig), "PATH": path, **engine.environment()}

    def _cloud(self, clusters: Clusters, *, record: bool = False) -> Cloud:
        return open_cloud(self.folder, clusters, record=record)

    def clusters(self) -> Clusters:
        return Clusters(self.folder / "clusters", toolbox(self.home.tools))

    @contextmanager
    def _lock(self) -> Generator[None]:
        path = self.home.lock(self.stack)
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise Busy(
                f"another physai command is working on the simulated stack {self.stack}.\n"
                "  Wait until it has ended; `physai status` shows what there is meanwhile."
            ) from None
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _session(
        self, report: Reporter, *, spare: bool = True, program: bool = True, record: bool = False
    ) -> Generator[_Session]:
        """Tools, control plane and providers, for as long as one operation lasts.

        `spare` starts a control plane before its cluster is created. `program` loads what the program
        imports; the engine destroys a stack without it. `record` simulates an Azure that still offers what it has
        retired since, and reports it.
        """
        with self._lock():
            if record:
                report.note(RECORD_NOTE)
            if program:
                import_ahead()
            report.phase("tools")
            tools = toolbox(self.home.tools, report.tool)
            report.phase("control plane")
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            login = program_environment.install_kubelogin(self.folder)
            clusters = Clusters(self.folder / "clusters", tools)
            clusters.prepare(spare=spare)
            cloud = self._cloud(clusters, record=record)
            path = f"{login.parent}{os.pathsep}{os.environ.get('PATH', '')}"
            rendered = RenderedCharts(chart_models(), self.folder / "rendered")
            options = KubernetesOptions(
                str(tools.path("helm")),
                path,
                chart_source,
                working_directory=ROOT,
                rendered=rendered,
                refused=clusters.refusal,
            )
            try:
                with (
                    program_environment.environment(SIMULATED, path),
                    ProviderHost(AzureNative.serving(cloud), kubernetes_provider(options)) as providers,
                ):
                    clusters.wait()
                    cloud.settle()
                    try:
                        yield _Session(Engine(self.folder, self.stack, tools, login), providers, cloud, clusters)
                    finally:
                        options.stopping.set()  # before the host ends: pending waits would keep it running
            finally:
                cloud.close()
                clusters.settle()


@dataclass
class _Session:
    engine: Engine
    providers: ProviderHost
    cloud: Cloud
    clusters: Clusters

    def configure(self, given: StackInput) -> None:
        project: dict[str, Any] = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
        # Real secrets are not used; a simulated stack gets its own.
        secret = {f"{project['name']}:secrets.{name}": f"simulated-{name}" for name in given.secret_names}
        self.engine.configure(project, given.config, secret)

    def recover(self) -> list[str]:
        return self.engine.recover(created_in(self.cloud))


def _retry_if_engine_lost(run: Callable[[], T], report: Reporter) -> T:
    """The result of `run`, which is called once more if the connection to the engine is lost: it continues where the
    first call ended."""
    try:
        return run()
    except EngineLost as lost:
        report.retry(str(lost).partition("\n")[0])
        return run()
