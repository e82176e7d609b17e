"""Choice of the plugin that manages the Kubernetes resources of a simulated stack: the simulated plugin, or Pulumi's
official plugin if it is installed.

The official plugin is not in any Go module proxy, so the simulator neither downloads nor builds it. It runs against the
same API server as the simulated plugin. A transformation replaces the charts of the program's releases with local
charts. The first `up` decides which plugin a stack uses, because the two plugins keep different states.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from simulator.errors import SimulationError
from simulator.kubernetes.provider import PACKAGE, VERSION
from simulator.program_environment import OFFICIAL_VARIABLE

PluginName = Literal["stand-in", "official"]
COMMAND = f"pulumi-resource-{PACKAGE}"
FOLDER = f"resource-{PACKAGE}-v{VERSION}"
PATH_VARIABLE = "PHYSAI_KUBERNETES_PLUGIN"
"""Environment variable with the path of the official plugin. It is needed only if the plugin is not in Pulumi's own
plugin folder.
"""
_RECORD = "kubernetes-plugin"


class PluginUnusable(SimulationError):
    """Error if the chosen plugin is missing, or if the stack was deployed with another plugin."""


@dataclass(frozen=True)
class Plugin:
    """Plugin of one simulated stack. `path`: file of the official plugin; None for the simulated plugin."""

    name: PluginName = "stand-in"
    path: Path | None = None

    def environment(self, folder: Path) -> dict[str, str]:
        """Environment variables of the engine that hide the user's clusters and Helm folders from the official plugin.
        Empty for the simulated plugin.
        """
        if self.path is None:
            return {}
        helm = folder / "helm"
        helm_folders = {f"HELM_{kind}_HOME": str(helm / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
        return {OFFICIAL_VARIABLE: "1", "KUBECONFIG": "", **helm_folders}

    def link(self, home: Path) -> None:
        """Links the official plugin into `home`, the engine's PULUMI_HOME, in which the engine looks for plugins."""
        if self.path is None:
            return
        command = home / "plugins" / FOLDER / COMMAND
        command.parent.mkdir(parents=True, exist_ok=True)
        command.unlink(missing_ok=True)
        command.symlink_to(self.path)


STAND_IN = Plugin()


def installed(environment: Mapping[str, str]) -> Path | None:
    """Path of the official plugin in the pinned version; None if it is not on this machine.

    Raises:
        PluginUnusable: PHYSAI_KUBERNETES_PLUGIN names a file that cannot be run.
    """
    if given := environment.get(PATH_VARIABLE):
        path = Path(given)
        if not os.access(path, os.X_OK) or path.is_dir():
            raise PluginUnusable(f"{PATH_VARIABLE} is {given}, which is not a program.")
        return path.resolve()
    pulumi = Path(environment.get("PULUMI_HOME") or Path.home() / ".pulumi")
    path = pulumi / "plugins" / FOLDER / COMMAND
    return path if os.access(path, os.X_OK) else None


def chosen(folder: Path, requested: PluginName | None, environment: Mapping[str, str]) -> Plugin:
    """The plugin of the simulation in `folder`: the plugin of the stack's first `up`, or before that the requested
    plugin.

    Raises:
        PluginUnusable: the stack was deployed with another plugin than the requested plugin, or the official plugin is
            missing.
    """
    fixed = recorded(folder)
    if fixed and requested and requested != fixed:
        raise PluginUnusable(
            f"The stack was deployed with the plugin '{fixed}', and its state is that plugin's.\n"
            f"  Leave --kubernetes-plugin out, or run `physai down` first."
        )
    if (fixed or requested or "stand-in") == "stand-in":
        return STAND_IN
    path = installed(environment)
    if path is None:
        raise PluginUnusable(
            f"The official Kubernetes plugin {VERSION} is not on this machine.\n"
            f"  Run `pulumi plugin install resource {PACKAGE} {VERSION}`, or set {PATH_VARIABLE} to its path."
        )
    return Plugin("official", path)


def recorded(folder: Path) -> PluginName | None:
    """The plugin that the first `up` has fixed; None before the first `up`."""
    try:
        text = (folder / _RECORD).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    return "official" if text == "official" else "stand-in"


def record(folder: Path, plugin: Plugin) -> None:
    """Records the plugin of the first `up` for later commands."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / _RECORD).write_text(plugin.name, encoding="utf-8")


def local_chart(inputs: Mapping[str, Any], source: Callable[[str, str, str], Path]) -> dict[str, Any]:
    """Arguments of a Helm release in which a local chart replaces the chart of a repository.

    The argument `version` is kept, because a preview shows an upgrade of the chart as a change of `version`. `source`:
    function that returns the path of the local chart for a chart name, version and repository URL.
    """
    options: Any = inputs.get("repository_opts")
    chart = source(inputs["chart"], inputs.get("version") or "", options.repo if options else "")
    return {**{name: value for name, value in inputs.items() if name != "repository_opts"}, "chart": str(chart)}
