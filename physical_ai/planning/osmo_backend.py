"""Releases of the KAI scheduler and of OSMO's agents in a stack, and a report if the agents cannot be installed yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from physical_ai.planning import agents
from physical_ai.planning.osmo import CREDENTIAL, KUBECONFIG, OsmoRelease, agent_kubeconfig
from physical_ai.settings.facts.osmo import AGENT_TOKEN
from physical_ai.settings.facts.osmo_access import control_plane_url
from physical_ai.settings.models.tree import Settings

AGENT = "osmo_login"
"""Folder in `agents/` of the program for the development login."""


@dataclass(frozen=True)
class OsmoBackend:
    """Helm releases of the KAI scheduler and of the agents that connect the cluster to OSMO's control plane."""

    scheduler: OsmoRelease
    agents: OsmoRelease
    login_files: Mapping[str, str]
    """Data of the ConfigMap for the development login; empty for a login with a token."""
    missing: str
    """Reason why the agents are left out, with the commands that complete the stack; empty if the agents are
    installed.
    """


def osmo_backend(settings: Settings, releases: Sequence[OsmoRelease], *, has_token: bool) -> OsmoBackend | None:
    """Scheduler and agents of a stack; None with `osmo.mode: namespaces`.

    Args:
        releases: The planned scheduler and agents; empty with `osmo.mode: namespaces`.
        has_token: True if the agents' token is among the stack's secrets.
    """
    if not releases:
        return None
    scheduler, own = releases
    return OsmoBackend(scheduler, own, _login_files(settings), missing_for_agents(settings, has_token=has_token))


def _login_files(settings: Settings) -> dict[str, str]:
    if settings.osmo.login != "dev":
        return {}
    (program,) = agents.files(AGENT).values()
    return {KUBECONFIG: agent_kubeconfig(), CREDENTIAL: program}


def missing_for_agents(settings: Settings, *, has_token: bool) -> str:
    """Report about agents that cannot be installed yet because they lack a control plane or a login; empty where they
    have both.
    """
    steps: list[str] = []
    if control_plane_url(settings) is None:
        steps.append("  pulumi config set --path 'physical-ai:osmo.serviceUrl' https://YOUR-CONTROL-PLANE")
    if settings.osmo.needs_token and not has_token:
        steps += [
            "  osmo user create backend-operator --roles osmo-backend",
            f"  osmo token set {settings.osmo.backend_name} --user backend-operator --roles osmo-backend"
            " --expires-at YYYY-MM-DD",
            f"  pulumi config set --secret --path 'physical-ai:secrets.{AGENT_TOKEN}'",
        ]
    if not steps:
        return ""
    return "\n".join(
        [
            "OSMO's agents are omitted: the stack sets no address of their control plane, or no login."
            " The service creates their token once it runs, so this takes a second deployment:",
            *steps,
            "  pulumi up",
        ]
    )
