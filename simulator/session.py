"""Session of one operation on a simulated stack, with its tools, control plane and providers."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from pulumi.automation.events import EngineEvent

from physical_ai import safe_yaml
from physical_ai.repository import PROJECT, PROJECT_FILE
from simulator import existing_cluster, program_environment, program_process
from simulator.azure import AzureNative, Caller, Cloud
from simulator.azure.questions import Questions
from simulator.azure.web import ArmWeb, Login
from simulator.charts import chart_models, chart_source
from simulator.clusters import Clusters
from simulator.engine import Engine
from simulator.entra import DEPLOYER, Principal
from simulator.errors import EngineLost
from simulator.kubelogin import PRINCIPAL_VARIABLE
from simulator.kubernetes import KubernetesOptions, RenderedCharts
from simulator.kubernetes.helm import Helm
from simulator.kubernetes.kubeconfig import load
from simulator.kubernetes.provider import PACKAGE, kubernetes_provider
from simulator.kubernetes_plugin import STAND_IN, Plugin
from simulator.plugin import ARM_VARIABLE
from simulator.program import import_ahead
from simulator.random_values import RandomValues
from simulator.recovery import AzureRecovery, ProviderRecovery
from simulator.recovery_cluster import ClusterRecovery
from simulator.stack_input import StackInput
from simulator.subscription import open_cloud
from simulator.tools import Progress, toolbox
from simulator.wire.host import ProviderHost

T = TypeVar("T")

SIMULATED = {
    "PHYSICAL_AI_SIMULATED": "1",
    "PHYSICAL_AI_RETRY_SECONDS": "0.18",  # the second retry comes just after the half second without effect of a role
    "PHYSICAL_AI_GATE_SECONDS": "60",
}
"""Environment variables that tell the program that it runs in a simulation: addresses need not be real, and minutes are
shortened to seconds.
"""

RECORD_NOTE = (
    "this stack records a past architecture: the simulated Azure takes sizes and Kubernetes versions that the real one"
    " has retired, and would refuse"
)


class Reporter(Protocol):
    """Receiver of the progress of an operation: phases, tools, events of the engine, and notes."""

    def phase(self, name: str) -> None: ...
    def tool(self, progress: Progress) -> None: ...
    def event(self, event: EngineEvent) -> None: ...
    def note(self, text: str) -> None: ...
    def retry(self, why: str) -> None:
        """Reports that the present phase begins again; the phase's earlier events are to be discarded."""
        ...


@dataclass
class Session:
    engine: Engine
    providers: ProviderHost
    cloud: Cloud
    clusters: Clusters
    options: KubernetesOptions
    folder: Path

    def configure(self, given: StackInput) -> None:
        project: dict[str, Any] = safe_yaml.load((PROJECT / PROJECT_FILE).read_text())
        secret = {f"{project['name']}:secrets.{name}": text for name, text in given.secrets.items()}
        self.engine.configure(project, self._with_existing_cluster(given, project["name"]), secret)

    def _with_existing_cluster(self, given: StackInput, project: str) -> dict[str, Any]:
        """Configuration of the stack. For a stack in an existing cluster, the kubeconfig of the simulated existing
        cluster is added.
        """
        changed = (
            existing_cluster.provide(given.existing_cluster, self.clusters, self.folder)
            if given.existing_cluster
            else {}
        )
        target = f"{project}:target"
        return {**given.config, target: {**given.config[target], **changed}} if changed else dict(given.config)

    def recover(self) -> list[str]:
        """Adopts resources that a killed run has created and not recorded; returns their URNs."""
        return self.engine.recover(self._recoveries)

    def _recoveries(self) -> dict[str, ProviderRecovery]:
        """Recovery for each provider whose cloud or cluster is running, by the name of the provider's package."""
        found: dict[str, ProviderRecovery] = {AzureNative.package: AzureRecovery(self.cloud)}
        for id in self.clusters.ids():
            if self.clusters.is_running(id):
                helm = Helm(self.options, load(self.clusters.admin_kubeconfig(id)))
                found[PACKAGE] = ClusterRecovery(self.clusters.client(id), helm)
        return found


@dataclass(frozen=True)
class Needs:
    """Requirements that an operation has of its session.

    Attributes:
        spare: True to start a control plane in advance, for a cluster that the operation will create.
        program: True to load the program's imports. A destroy needs no program.
        record: True for a simulated Azure that still offers sizes and versions which the real Azure has retired. The
            session then reports a message about this difference.
        principal: Principal that is logged in.
        kubernetes: Plugin that runs the Kubernetes resources.
    """

    spare: bool = True
    program: bool = True
    record: bool = False
    principal: Principal = DEPLOYER
    kubernetes: Plugin = STAND_IN


@contextmanager
def open_session(folder: Path, stack: str, tools_folder: Path, report: Reporter, needs: Needs) -> Generator[Session]:
    """A session on the simulation in `folder`; there can be only one at a time."""
    if needs.record:
        report.note(RECORD_NOTE)
    if needs.program and not program_process.is_started():
        import_ahead()
    report.phase("tools")
    tools = toolbox(tools_folder, report.tool)
    report.phase("control plane")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    login = program_environment.install_kubelogin(folder)
    clusters = Clusters(folder / "clusters", tools)
    clusters.prepare(spare=needs.spare)
    cloud = open_cloud(folder, clusters, record=needs.record)
    path = f"{login.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    options = KubernetesOptions(
        str(tools.path("helm")),
        path,
        chart_source,
        working_directory=PROJECT,
        rendered=RenderedCharts(chart_models(), folder / "rendered"),
        refused=clusters.refusal,
    )
    who = Caller(needs.principal.object_id, needs.principal.client_id)
    official = needs.kubernetes.path is not None
    needs.kubernetes.link(folder / "home")
    served = (AzureNative.serving(cloud, who), RandomValues, *(() if official else (kubernetes_provider(options),)))
    forced = {PRINCIPAL_VARIABLE: needs.principal.object_id, **needs.kubernetes.environment(folder)}
    arm = ArmWeb(Questions(cloud), {who.object_id: Login(who.object_id)})
    try:
        with (
            arm.served() as address,
            program_environment.environment(SIMULATED, path, {**forced, ARM_VARIABLE: address}),
            ProviderHost(*served) as providers,
        ):
            clusters.wait()
            cloud.settle()
            try:
                engine = Engine(folder, stack, tools, login, needs.kubernetes)
                yield Session(engine, providers, cloud, clusters, options, folder)
            finally:
                options.stopping.set()  # before the host ends: pending waits would keep it running
    finally:
        cloud.close()
        clusters.settle()


def retry_if_engine_lost(run: Callable[[], T], report: Reporter) -> T:
    """The result of `run`. If the connection to the engine is lost, `run` is called a second time; the engine then
    continues where it stopped.
    """
    try:
        return run()
    except EngineLost as lost:
        report.retry(str(lost).partition("\n")[0])
        return run()
