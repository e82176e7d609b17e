"""The real Pulumi engine for a simulated stack, with its own backend, its own copy of the stack file, and providers in
this process.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
from pulumi import automation
from pulumi.automation._stack import StackInitMode
from pulumi.automation.events import EngineEvent

from physical_ai import safe_yaml
from simulator import program
from simulator.automation import Command, Stack, Workspace
from simulator.checkpoint import Checkpoint
from simulator.engine_errors import LOCKED, errors_in, failure
from simulator.errors import EngineFailed, Interrupted, Locked
from simulator.interrupts import graceful_interrupts
from simulator.kubernetes_plugin import STAND_IN, Plugin
from simulator.processes import GO_COLLECTION, engines
from simulator.recovery import ProviderRecovery, recovered
from simulator.run_options import RunOptions
from simulator.stack_file import StackFile
from simulator.tools import Toolbox
from simulator.wire.host import ProviderHost

NO_ATTRIBUTES = "?metadata=skip"
"""Parameter of the backend's URL that keeps the engine from writing an attributes file with a checksum beside each
state file. The engine writes its state some 200 times per deployment, and spends a tenth of its CPU time on the
attributes files. Source: gocloud.dev, blob/fileblob.
"""

STATE_AT_THE_END = {"PULUMI_EXPERIMENTAL": "true", "PULUMI_SKIP_CHECKPOINTS": "true"}
"""Environment variables that make the engine write its state once at the end instead of after each step, which saves
half of its CPU time. They are only for simulations that nobody continues after a killed `up`.
"""

DEFAULTS = RunOptions()
OnEvent = Callable[[EngineEvent], None]
PARALLEL = 32


class Engine:
    """Pulumi engine that runs one stack of the program in `PROJECT` and writes only below `folder`."""

    def __init__(
        self, folder: Path, stack: str, tools: Toolbox, kubelogin: Path, kubernetes: Plugin = STAND_IN
    ) -> None:
        self._folder, self._stack, self._tools, self._kubelogin = folder, stack, tools, kubelogin
        self._kubernetes = kubernetes
        self.checkpoint = Checkpoint(folder / "backend", stack)

    @property
    def recovers(self) -> bool:
        """True if the engine can adopt resources that a killed run has created, but not recorded in its state.

        The simulator's own Kubernetes provider makes this possible; Pulumi's official one does not.
        """
        return self._kubernetes.name == "stand-in"

    @property
    def has_state(self) -> bool:
        """True if the engine has recorded an update, which the next one can continue."""
        return (self._folder / "work" / "Pulumi.yaml").exists() and bool(self.checkpoint.deployment())

    def configure(self, project: Mapping[str, Any], config: Mapping[str, Any], secret: Mapping[str, str]) -> None:
        """Writes the copies of the project and the stack file that the engine reads; the user's files stay
        unchanged.
        """
        work = self._folder / "work"
        stacks = work / "stacks"
        shutil.rmtree(work, ignore_errors=True)
        for folder in (stacks, self._folder / "home", self._folder / "backend"):
            folder.mkdir(parents=True, exist_ok=True)
        self._keep_no_logs()
        # The program runs in this process, so the runtime's options (a virtual environment) have no effect.
        copied = {**project, "runtime": "python", "stackConfigDir": "stacks"}
        (work / "Pulumi.yaml").write_text(safe_yaml.dump(copied))
        if self.checkpoint.file is None:
            self.checkpoint.create(project["name"])
        file = StackFile(stacks / f"Pulumi.{self._stack}.yaml", self._folder / "secrets.json", self._passphrase())
        if file.write(config, secret):
            return
        self.checkpoint.repair()  # the CLI reads the checkpoint, before anything is recovered
        stack = self._open()
        for key, value in secret.items():
            stack.set_config(key, automation.ConfigValue(value, secret=True), path=True)
        file.remember(secret)

    def _keep_no_logs(self) -> None:
        """Turns off the engine's debug logs: puts a file at the path where the engine would create the folder for them.

        Compressing and encrypting a log takes a third of the engine's CPU time, and there is no option against it. If
        the engine cannot create the folder, it writes no log (pulumi/pkg 3.259, logging/encrypted.go).
        """
        logs = self._folder / "home" / "logs"
        if not logs.exists():
            logs.touch()

    def up(self, providers: ProviderHost, on_event: OnEvent, options: RunOptions = DEFAULTS) -> dict[str, Any]:
        """Deploys the stack; returns its outputs without the secret ones.

        Raises:
            EngineFailed: a resource was refused or did not become ready.
        """
        self._run(lambda stack: stack.up(**self._changing(options, on_event)), providers)
        return self.checkpoint.outputs()

    def preview(
        self,
        providers: ProviderHost | None,
        on_event: OnEvent,
        policy_packs: Sequence[Path] = (),
        options: RunOptions = DEFAULTS,
    ) -> None:
        """Previews the deployment, and checks each resource with the policy packs.

        Args:
            providers: Providers of the operation; None for the installed plugins, as the plain command has.

        Raises:
            EngineFailed: a resource was refused, possibly by a policy pack.
            ChangesFound: there are changes, and the options expect none.
        """
        packs = [str(pack) for pack in policy_packs] or None
        given: dict[str, Any] = {
            **self._arguments(options, on_event),
            "refresh": options.refresh or None,
            "expect_no_changes": options.expect_no_changes or None,
        }
        self._run(lambda stack: stack.preview(policy_packs=packs, **given), providers)

    def refresh(self, providers: ProviderHost, on_event: OnEvent, options: RunOptions = DEFAULTS) -> None:
        """Reads every resource, and updates the state to what it finds.

        Raises:
            EngineFailed: a resource could not be read.
            ChangesFound: Azure differs from the state, and the options expect no changes.
        """
        given: dict[str, Any] = {
            **self._arguments(options, on_event),
            "expect_no_changes": options.expect_no_changes or None,
        }
        self._run(lambda stack: stack.refresh(run_program=options.run_program, **given), providers)

    def destroy(self, providers: ProviderHost, on_event: OnEvent, options: RunOptions = DEFAULTS) -> None:
        given = self._changing(options, on_event)
        self._run(lambda stack: stack.destroy(run_program=options.run_program, **given), providers)

    def _changing(self, options: RunOptions, on_event: OnEvent) -> dict[str, Any]:
        """Arguments for operations that change resources."""
        own = {"refresh": options.refresh or None, "continue_on_error": options.continue_on_error or None}
        return {**self._arguments(options, on_event), **own}

    def _arguments(self, options: RunOptions, on_event: OnEvent) -> dict[str, Any]:
        shared = options.arguments(self.checkpoint.resources())
        return {"parallel": PARALLEL, "color": "never", "on_event": on_event, **shared}

    def recover(self, recoveries: Callable[[], Mapping[str, ProviderRecovery]]) -> list[str]:
        """Repairs the state after a killed run, so that it matches the simulated cloud; returns the URNs of the
        resources that were adopted.
        """
        if not self.has_state and not self.checkpoint.locks():
            return []  # a run that was killed before it saved anything has left its lock
        self._kill_orphans()
        self.checkpoint.repair()
        self.checkpoint.unlock()
        if not self.checkpoint.pending():
            return []
        exported = json.loads(self._cli("stack", "export").stdout)
        exported["deployment"], adopted = recovered(exported["deployment"], recoveries())
        file = self._folder / "recovered.json"
        file.write_text(json.dumps(exported))
        self._cli("stack", "import", "--file", str(file))
        file.unlink()
        return adopted

    def _cli(self, *arguments: str) -> automation.CommandResult:
        """Result of a plain CLI command on this stack; secrets remain encrypted in an export."""
        work = str(self._folder / "work")
        try:
            return self._command().run([*arguments, "--stack", self._stack], work, self._env(None))
        except automation.errors.CommandError as problem:
            raise EngineFailed(errors_in(str(problem))) from problem

    def _kill_orphans(self) -> None:
        """Kills engine processes that an earlier command has left running.

        Such an engine has lost its program and would fail by itself, but only later.
        """
        for process in self._engines():
            process.kill()
            process.wait(10)

    def _engines(self) -> list[psutil.Process]:
        """Running engine processes of this simulation."""
        return engines(self._folder / "home")

    def _run(self, operation: Callable[[automation.Stack], Any], providers: ProviderHost | None) -> Any:
        program.connect_over_loopback()
        with graceful_interrupts(self._engines) as interrupts:
            try:
                return operation(self._open(providers))
            except automation.errors.CommandError as problem:
                if interrupts:
                    raise Interrupted(
                        "interrupted; run the same command again to continue from what was done"
                    ) from None
                said = errors_in(str(problem))
                if LOCKED in said:
                    raise Locked(self._stack, self.checkpoint.locks()) from problem
                raise failure(said) from problem

    def _open(self, providers: ProviderHost | None = None) -> automation.Stack:
        workspace = Workspace(
            work_dir=str(self._folder / "work"),
            program=program.run_program,
            pulumi_command=self._command(),
            env_vars=self._env(providers),
        )
        return Stack(self._stack, workspace, StackInitMode.SELECT)

    def _command(self) -> automation.PulumiCommand:
        root = self._folder / "cli"
        (root / "bin").mkdir(parents=True, exist_ok=True)
        link = root / "bin" / "pulumi"
        if not link.exists():
            link.unlink(missing_ok=True)
            link.symlink_to(self._tools.path("pulumi"))
        return Command(root)

    def environment(self) -> dict[str, str]:
        """Environment variables with which a plain `pulumi` command can read, refresh and destroy this stack.

        They are not enough to run the program (`pulumi up`), which needs further settings that `physai` adds.
        """
        own = self._env(None)
        shared = (
            "PULUMI_HOME",
            "PULUMI_BACKEND_URL",
            "PULUMI_CONFIG_PASSPHRASE_FILE",
            "PULUMI_SKIP_UPDATE_CHECK",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION",
        )
        return {**{name: own[name] for name in shared}, "PULUMI_STACK": self._stack}

    def _passphrase(self) -> Path:
        """The file with this simulation's own passphrase, created if it does not exist."""
        passphrase = self._folder / "passphrase"
        if not passphrase.exists():
            descriptor = os.open(passphrase, os.O_WRONLY | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_urlsafe(32))
        return passphrase

    def _env(self, providers: ProviderHost | None) -> dict[str, str]:
        """Environment variables that direct the engine to this simulation only."""
        return {
            "PULUMI_HOME": str(self._folder / "home"),
            "PULUMI_BACKEND_URL": f"file://{self._folder / 'backend'}{NO_ATTRIBUTES}",
            "PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS": "true",  # nothing reads the copies
            "PULUMI_CONFIG_PASSPHRASE_FILE": str(self._passphrase()),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_AUTOMATION_API_SKIP_VERSION_CHECK": "true",
            "GOGC": os.environ.get("GOGC", GO_COLLECTION),
            # This process's own Python comes next: policy packs that are scripts need a `python3`.
            "PATH": os.pathsep.join(
                (str(self._kubelogin.parent), str(Path(sys.executable).parent), os.environ.get("PATH", ""))
            ),
            **self._kubernetes.environment(self._folder),
            **({"PULUMI_DEBUG_PROVIDERS": providers.attach_env()} if providers is not None else {}),
        }
