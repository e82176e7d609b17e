"""One simulated stack over its whole life: implements `physai up`, `preview`, `down` and `status`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from simulator import existing_cluster, leftovers, plugin, resident
from simulator.azure import Cloud
from simulator.cancellation import cancel
from simulator.clusters import Clusters
from simulator.control_plane.kubeconfig import LOGIN_COMMAND
from simulator.engine import DEFAULTS, Engine
from simulator.entra import DEPLOYER, Principal
from simulator.errors import Busy, NotSimulated, Protected, SimulationError
from simulator.kubelogin import PRINCIPAL_VARIABLE
from simulator.kubernetes_plugin import Plugin, chosen, record
from simulator.metrics.collector import Collected, collected
from simulator.metrics.telemetry import Telemetry
from simulator.processes import engines
from simulator.run_options import RunOptions
from simulator.session import Needs, Reporter, Session, open_session, retry_if_engine_lost
from simulator.simulated_state import SimulatedState
from simulator.stack_input import StackInput
from simulator.subscription import open_cloud
from simulator.tools import FAMILIES, KUBECTL, TELEMETRY, Toolbox, toolbox
from simulator.tools.families import Report
from simulator.tools.install import quiet


class Simulation(SimulatedState):
    """The simulation of one stack, in a folder of its own."""

    def up(self, given: StackInput, report: Reporter, options: RunOptions = DEFAULTS) -> dict[str, Any]:
        """Deploys the stack; returns its outputs without the secret ones.

        Raises:
            Busy, BuildFailed, ControlPlaneFailed, EngineFailed, UnknownTarget
        """
        needs = Needs(record=given.record, principal=options.principal, kubernetes=self._kubernetes(options))
        with self._session(report, needs) as session:
            record(self.folder, needs.kubernetes)
            session.configure(given)
            _recover(session, report, options)
            report.phase("deploy")
            try:
                outputs = retry_if_engine_lost(
                    lambda: session.engine.up(session.providers, report.event, options), report
                )
            finally:
                self._keep_kubeconfig()
        report.phase("done")
        return outputs

    def _keep_kubeconfig(self) -> None:
        """Writes the kubeconfig of the deployed cluster. It contains no credentials: clients log in with `kubelogin`,
        as on Azure.
        """
        kubeconfig = self.outputs().get("kubeconfig")
        if isinstance(kubeconfig, str):
            (self.folder / "kubeconfig").write_text(kubeconfig)

    def preview(
        self,
        given: StackInput,
        report: Reporter,
        policy_packs: Sequence[Path] = (),
        options: RunOptions = DEFAULTS,
    ) -> None:
        """Previews what `up` would change, without changing anything.

        `policy_packs`: programs of policy packs that the engine starts and asks.
        """
        fresh = not self.exists
        try:
            plugin_of = self._kubernetes(options)
            needs = Needs(spare=False, record=given.record, principal=options.principal, kubernetes=plugin_of)
            with self._session(report, needs) as session:
                session.configure(given)
                _recover(session, report, options)
                report.phase("preview")
                retry_if_engine_lost(
                    lambda: session.engine.preview(session.providers, report.event, policy_packs, options), report
                )
        except SimulationError:
            if fresh:
                self.discard()
            raise
        if fresh:
            self.discard()
        report.phase("done")

    def refresh(self, report: Reporter, options: RunOptions = DEFAULTS, given: StackInput | None = None) -> None:
        """Reads every resource, and records the differences in the state. `given` is needed only if the program runs.

        Raises:
            NotSimulated: nothing has been deployed.
            ChangesFound: a resource differs from the state, and the options expect no changes.
        """
        self._demand()
        needs = self._needs_of_state(options)
        with self._session(report, needs) as session:
            if given is not None:
                session.configure(given)
            _recover(session, report, options)
            report.phase("refresh")
            session.engine.refresh(session.providers, report.event, options)
        report.phase("done")

    def _kubernetes(self, options: RunOptions = DEFAULTS) -> Plugin:
        """Plugin that runs the stack's Kubernetes resources. Raises PluginUnusable."""
        return chosen(self.folder, options.kubernetes_plugin, os.environ)

    def _needs_of_state(self, options: RunOptions) -> Needs:
        """Requirements of a refresh or a destroy. The program is loaded only if the options ask for it."""
        own = self._kubernetes(options)
        return Needs(spare=False, program=options.run_program, principal=options.principal, kubernetes=own)

    def cancel(self, report: Reporter) -> str:
        """Ends a run that is under way, or removes the lock of a killed run. Returns a text that says which of the two
        was done.

        Raises:
            NotSimulated, NothingToCancel
            Busy: the run did not end in time.
        """
        self._demand()
        report.phase("cancel")
        done = cancel(self.checkpoint, self.home.lock(self.stack), engines(self.folder / "home"))
        report.phase("done")
        return done

    def _demand(self) -> None:
        if not self.exists:
            raise NotSimulated(f"{self.stack} is not simulated; `physai up {self.stack}` deploys it")

    def down(self, report: Reporter, options: RunOptions = DEFAULTS, given: StackInput | None = None) -> None:
        """Destroys the stack through the engine, then ends and removes the simulation itself.

        If the options name targets, only the targets are destroyed, and the simulation is kept. `given` is needed only
        if the program runs.

        Raises:
            Protected: the stack's resources refuse to be deleted; nothing is removed then.
            EngineFailed: something could not be deleted; the simulation is kept.
        """
        if not self.exists:
            return
        self.destroy(report, options, given)
        if not options.targets:
            report.phase("clean up")
            self.discard()
        report.phase("done")

    def destroy(self, report: Reporter, options: RunOptions = DEFAULTS, given: StackInput | None = None) -> None:
        """Destroys the stack as `down` does, but keeps the simulation, so that a cluster that existed before the stack
        keeps running.
        """
        needs = self._needs_of_state(options)
        with self._session(report, needs) as session:
            if given is not None:
                session.configure(given)
            _recover(session, report, options)
            if not options.targets and (protected := session.engine.checkpoint.protected()):
                raise Protected(
                    f"{self.stack} is protected: {len(protected)} of its resources refuse to be deleted.\n"
                    f"  Either lift that first:  physai up {self.stack} --set protect=false\n"
                    f"  or discard the simulation:  physai down {self.stack} --discard"
                )
            if session.engine.has_state:
                report.phase("destroy")
                session.engine.destroy(session.providers, report.event, options)
                changed = existing_cluster.changed_since(session.clusters, session.folder)
                if changed is not None and not options.targets:
                    leftovers.report(changed, self.home.leftovers(self.folder.name), report.note)

    def discard(self) -> None:
        """Ends every process of the simulation and removes all its files, without the engine."""
        with self._lock():
            self.telemetry.wipe()
            Clusters(self.folder / "clusters", Toolbox(())).wipe()
            # The folder is renamed first, so that a half-removed one does not look like a simulation.
            waste = self.folder.with_name(f".{self.folder.name}")
            shutil.rmtree(waste, ignore_errors=True)
            if self.exists:
                self.folder.rename(waste)
            shutil.rmtree(waste, ignore_errors=True)
        resident.end(self.home.folder)

    def cloud_resources(self) -> Mapping[str, Mapping[str, Any]]:
        """All resources of the simulated subscription: ARM id → `type`, `inputs` and `outputs`."""
        return open_cloud(self.folder, self.clusters()).resources()

    @contextmanager
    def azure(self) -> Generator[Cloud]:
        """The simulated Azure of a running simulation, for changes that the program does not make."""
        with self._lock():
            cloud = open_cloud(self.folder, self.clusters())
            cloud.settle()
            try:
                yield cloud
            finally:
                cloud.close()

    def environment(self, principal: Principal = DEPLOYER, report: Report = quiet) -> dict[str, str]:
        """Environment variables for `kubectl`, `helm` and the plain `pulumi` to use the simulated cluster and stack.

        `kubectl` and `helm` are logged in as the principal. Before there is a cluster, KUBECONFIG names a file that
        does not exist.

        Args:
            report: Reporter of the installation of `kubectl`, which the first call needs.
        """
        if not self.exists:
            raise SimulationError(f"{self.stack} has no simulated cluster; `physai up {self.stack}` makes one")
        tools = toolbox(self.home.tools, report, (*FAMILIES, KUBECTL))
        login = self.folder / "bin"
        folders = (login, *(tools.path(name).parent for name in ("kubectl", "helm", "pulumi")))
        path = os.pathsep.join((*map(str, folders), os.environ.get("PATH", "")))
        kubernetes = self._kubernetes()
        engine = Engine(self.folder, self.stack, tools, login / LOGIN_COMMAND, kubernetes)
        plugin.install(self.folder, self.home.tools, tools.path("pulumi"), self.stack)
        kubernetes.link(self.folder / "home")
        login_as = {} if principal is DEPLOYER else {PRINCIPAL_VARIABLE: principal.object_id}
        own = {"KUBECONFIG": str(self.folder / "kubeconfig"), plugin.ARM_VARIABLE: plugin.arm_address(self.folder)}
        return {**own, "PATH": path, **login_as, **engine.environment()}

    @property
    def telemetry(self) -> Telemetry:
        return Telemetry(self.folder)

    def start_telemetry(self, otherwise: Callable[[str], Collected], report: Reporter) -> None:
        """Starts Prometheus and Alertmanager, configured by the deployed objects of the stack's metrics collector.

        Args:
            otherwise: Function that returns the scrape jobs and rules for a cluster without a metrics collector. Its
                argument is the cluster's name.

        Raises:
            BuildFailed, SimulationError: Prometheus or Alertmanager did not start.
        """
        report.phase("telemetry")
        tools = toolbox(self.home.tools, report.tool, TELEMETRY)
        clusters, resources = self.clusters(), self.cloud_resources()
        for id in clusters.ids():
            given = collected(clusters.client(id), id, resources) or otherwise(id.rpartition("/")[2])
            self.telemetry.start(tools, given, clusters.metrics(id))
        report.phase("done")

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
                "  Wait until it has finished; `physai status` shows the current state."
            ) from None
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _session(self, report: Reporter, needs: Needs) -> Generator[Session]:
        with self._lock(), open_session(self.folder, self.stack, self.home.tools, report, needs) as session:
            yield session


def _recover(session: Session, report: Reporter, options: RunOptions) -> None:
    """Makes the engine's state and the simulated cloud agree after a killed run, unless the options turn this off."""
    # Only the simulated provider can read what exists; with the official plugin, users repair as on Azure.
    adopted = session.recover() if options.recover and session.engine.recovers else []
    if adopted:
        report.note(f"the previous run was interrupted; {len(adopted)} resources it had created were adopted")
