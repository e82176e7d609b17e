"""Pulumi's Automation API with one run of the CLI for an operation, in place of four."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pulumi import automation
from pulumi._version import version as sdk_version

from simulator import program_process


class Command(automation.PulumiCommand):
    """Names to the CLI the process in which the program runs, if it has its own.

    The CLI in the tools is of the SDK's version; asking it would start it once more.
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
    """Workspace whose stack is named in every command and known to exist, so that none has to be selected first."""

    def select_stack(self, stack_name: str) -> None:
        del stack_name


class Stack(automation.Stack):
    """Runs the CLI once for an operation: the SDK would run it three more times for data in the state file."""

    def outputs(self) -> automation.OutputMap:
        return {}

    def info(self, show_secrets: bool = False) -> automation.UpdateSummary:
        del show_secrets
        now = datetime.datetime.now(datetime.UTC)
        return automation.UpdateSummary("update", now, "", {}, {}, "succeeded")
