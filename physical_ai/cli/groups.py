"""The commands by what they are for, in the order of the help, and messages for a wrong command line."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup


class UnknownCommand(Exception):
    """There is no command of this name."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(name)
        self.name, self.known = name, known


class CommandGroup(TyperGroup):
    """Commands that Typer lists by panel, groups of commands between the others."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names in the order of the panels. Typer would put groups last."""
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            raise UnknownCommand(args[0], list(self.commands))
        return super().resolve_command(ctx, args)


PANELS = {
    "Inspect": {
        "stacks": "Compare all stacks: pools, cost, own settings",
        "explain": "Show a stack's settings and the file of each value",
        "cost": "Estimate the cost per pool, hour and month",
        "time": "Estimate how long a first deployment takes",
        "usage": "Show the GPU-hours that workflows used",
        "sizes": "List VM sizes, their GPUs and prices",
        "regions": "List regions, and where a stack's pools could run",
        "status": "Show the simulated stack: nodes, GPUs, workflows",
    },
    "Change": {
        "stack": "Write the files of a new stack: stack new NAME",
        "preview": "Show what `up` would change",
        "up": "Deploy a stack to the simulator on this machine",
        "refresh": "Record differences of the resources in state",
        "down": "Destroy the simulated stack",
        "cancel": "Stop a run, or remove the lock of a killed run",
        "unstick": "Repair what a killed run left behind, with prompts",
        "node": "Repair a GPU node step by step: node replace NODE",
    },
    "Check": {
        "policy": "Check a stack's resources against the policies",
        "compat": "Check that a stack's versions are compatible",
        "check": "Query Azure: quota, sizes, versions, permissions",
        "obtain": "Compare a pool with its fallbacks: quota, price",
        "gates": "Show why nodes do not offer their GPUs",
        "accept": "Run acceptance checks on GPU nodes",
        "why": "Explain why a pod, workflow, node or pool fails",
        "doctor": "List everything that does not work in the cluster",
        "evidence": "Show the records of a GPU node; report it to Azure",
        "pr-preview": "Preview a pull request on each affected stack",
    },
    "Observe": {
        "alerts": "List the alerts of the simulated stack, with advice",
        "dashboards": "Draw the stack's dashboards from simulated metrics",
        "fault": "Inject faults into simulated GPU nodes: fault list",
    },
    "Workflows": {
        "lint": "Check OSMO workflow files; --simulate places them",
        "run": "Run OSMO workflows on the simulated stack",
        "osmo": "Show OSMO's platforms, and values for its chart",
    },
    "Cluster and setup": {
        "env": "Print variables for kubectl and pulumi",
        "tools": "Install the engine and control-plane programs",
        "charts": "List or download the pinned Helm charts",
        "schema": "Write JSON schemas of stack files for editors",
        "bootstrap": "Print the setup script for pipelines",
    },
}
"""Each command's panel in the help, and what it does in one line of 80 columns."""
ORDER = [name for commands in PANELS.values() for name in commands]


def listing(name: str) -> dict[str, Any]:
    """Where the help lists a command, as options of `Typer.command` and `Typer.add_typer`."""
    panel = next(panel for panel, commands in PANELS.items() if name in commands)
    return {"name": name, "short_help": PANELS[panel][name], "rich_help_panel": panel}


def command_path(root: Any, arguments: list[str]) -> str:
    """The command that arguments call, as `physai osmo values`."""
    words, command = ["physai"], root
    for word in arguments:
        command = getattr(command, "commands", {}).get(word)
        if command is None:
            break
        words.append(word)
    return " ".join(words)


def usage_text(problem: typer.TyperException | UnknownCommand, path: str) -> str:
    """What is wrong on the command line, where, and what to write instead.

    Args:
        path: the command, as `command_path` has it.
    """
    if isinstance(problem, UnknownCommand):
        from physical_ai.catalog import nearest

        near = nearest(problem.name, problem.known)
        return _lines(f"{path}: there is no command '{problem.name}'", near, f"All commands: {path} --help")
    # Typer exports no classes of these errors, so their attributes distinguish them.
    option, near = getattr(problem, "option_name", None), getattr(problem, "possibilities", None)
    if option is not None and hasattr(problem, "possibilities"):
        return _lines(
            f"{path}: there is no option {option}", next(iter(near or ()), None), f"All options: {path} --help"
        )
    parameter, hint = getattr(problem, "param", None), getattr(problem, "param_hint", None)
    if hint is None and parameter is not None:
        hint = (
            " / ".join(parameter.opts) if parameter.param_type_name == "option" else parameter.metavar or parameter.name
        )
    if hasattr(problem, "param_type"):
        return _lines(f"{path}: {hint} is missing", None, f"Usage: {path} --help")
    place = f"{path}: {hint}" if hint else path
    message = problem.message.removeprefix("Value error, ").removeprefix("Got ").rstrip(".")
    return _lines(f"{place}: {message}", None, f"All options: {path} --help")


def _lines(problem: str, near: str | None, advice: str) -> str:
    suggestion = f"Did you mean '{near}'?  " if near else ""
    return f"{problem}\n  {suggestion}{advice}"
