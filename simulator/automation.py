"""Pulumi's Automation API, changed to start the CLI once for each operation instead of four times."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pulumi import automation
from pulumi._version import version as sdk_version

from simulator import program_process


class Command(automation.PulumiCommand):
    """The Pulumi CLI. If a resident process exists, the CLI gets its address, so that the process runs the program.

    The CLI's version is assumed to be the SDK's, which saves starting the CLI to ask for the version.
    """

    def __init__(self, root: Path) -> None:
        self.command, self.version = str(root / "bin" / "pulumi"), sdk_version

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: Callable[[str], Any] | None = None,
        on_error: Callable[[str], Any] | None = None,
    ) -> automation.CommandResult:
        client = "--client="
        if any(each.startswith(client) for each in args) and (address := program_process.address()):
            args = [f"{client}{address}" if each.startswith(client) else each for each in args]
        return super().run(args, cwd, additional_env, on_output, on_error)


class Workspace(automation.LocalWorkspace):
    """Workspace that passes the stack's name to every command, so that no `pulumi stack select` is needed. The stack
    has to exist.
    """

    def select_stack(self, stack_name: str) -> None:
        del stack_name


class Stack(automation.Stack):
    """Stack that starts the CLI once per operation.

    The SDK would start the CLI three more times, for data that is also in the state file.
    """

    def outputs(self) -> automation.OutputMap:
        return {}

    def info(self, show_secrets: bool = False) -> automation.UpdateSummary:
        del show_secrets
        now = datetime.datetime.now(datetime.UTC)
        return automation.UpdateSummary("update", now, "", {}, {}, "succeeded")
