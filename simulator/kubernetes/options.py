"""Options that the host gives to Kubernetes providers, and the configuration of a stack's provider."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from simulator.kubernetes.kubeconfig import Kubeconfig
from simulator.kubernetes.rendering import RenderedCharts

ChartSource = Callable[[str, str, str], "Path | None"]
"""Function that returns the path of a local chart to use in place of a chart; None to use the chart itself. Arguments:
chart name, version, repository URL.
"""


def _as_named(chart: str, version: str, repository: str) -> Path | None:
    return None


def _none_refused(kubeconfig: Kubeconfig) -> str:
    return ""


@dataclass(frozen=True)
class KubernetesOptions:
    """Options that every provider instance of one simulator shares."""

    helm: str = "helm"
    """The helm command: a path, or a name that is looked up in the folders of `path`."""
    path: str | None = None
    """Value of PATH for exec credentials (`kubelogin`) and helm; None for this process's PATH."""
    chart_source: ChartSource = _as_named
    working_directory: Path = field(default_factory=Path.cwd)
    """The folder of the Pulumi program, to which relative chart and values paths refer."""
    rendered: RenderedCharts | None = None
    """Cache of rendered charts; without a cache, each chart is rendered every time."""
    refused: Callable[[Kubeconfig], str] = _none_refused
    """Function that returns the reason why a kubeconfig may not be used; empty if it may be used. The check exists
    because the exec section of a kubeconfig can run any command.
    """
    stopping: threading.Event = field(default_factory=threading.Event)
    """Event that ends every wait, so that the process can end."""


@dataclass(frozen=True)
class Settings:
    """A provider's configuration, with the official plugin's defaults and environment variables applied."""

    kubeconfig: str | Mapping[str, Any] = ""
    context: str = ""
    cluster: str = ""
    namespace: str = ""
    server_side_apply: bool = True
    config_maps_mutable: bool = False
    secrets_mutable: bool = False
    patch_force: bool = False
    delete_unreachable: bool = False
    skip_update_unreachable: bool = False
    upsert: bool = False


_SWITCHES = {
    "server_side_apply": ("enableServerSideApply", "PULUMI_K8S_ENABLE_SERVER_SIDE_APPLY"),
    "config_maps_mutable": ("enableConfigMapMutable", "PULUMI_K8S_ENABLE_CONFIGMAP_MUTABLE"),
    "secrets_mutable": ("enableSecretMutable", "PULUMI_K8S_ENABLE_SECRET_MUTABLE"),
    "patch_force": ("enablePatchForce", "PULUMI_K8S_ENABLE_PATCH_FORCE"),
    "delete_unreachable": ("deleteUnreachable", "PULUMI_K8S_DELETE_UNREACHABLE"),
    "skip_update_unreachable": ("skipUpdateUnreachable", "PULUMI_K8S_SKIP_UPDATE_UNREACHABLE"),
    "upsert": ("upsertExistingObjects", "PULUMI_K8S_UPSERT_EXISTING_OBJECTS"),
}


def settings_from(config: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> Settings:
    """Reads a provider's configuration. A switch in the configuration is a boolean or one of the strings "true" and
    "false".
    """
    switches = {
        field: (config[key] if config.get(key) is not None else environment.get(variable))
        for field, (key, variable) in _SWITCHES.items()
    }
    given = config.get("kubeconfig")
    return Settings(
        kubeconfig=cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else _text(given),
        context=_text(config.get("context")),
        cluster=_text(config.get("cluster")),
        namespace=_text(config.get("namespace")),
        **{field: str(value).lower() == "true" for field, value in switches.items() if value is not None},
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
