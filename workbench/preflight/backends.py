"""Check of the stacks that share an OSMO control plane: each cluster needs a name of its own there, and a place in the
list of the control plane's stack.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from physical_ai.findings import Finding, Severity
from physical_ai.settings import Settings
from physical_ai.settings.facts.osmo_access import control_plane_url

IN_CLUSTER = ".svc.cluster.local"
TOPIC, SOURCE = "backend", "the stacks of this checkout"


def claims(settings: Settings, others: Iterable[Settings]) -> Iterator[Finding]:
    """Findings about other stacks that use the same control plane as the stack with `settings`, and conflict with it.

    If two clusters have the same name, each gets workflows of the other, and reports the other's Pods as lost. A
    cluster has no pools if the stack with the control plane does not list it in `osmo.backends`.

    Args:
        others: All other stacks that can be loaded.
    """
    url, name = control_plane_url(settings), settings.osmo.backend_name
    # The name of a Kubernetes Service leads to a different control plane in each cluster.
    if url is None or not settings.osmo.installs_backend or url.endswith(IN_CLUSTER):
        return
    for other in others:
        if control_plane_url(other) != url or not other.osmo.installs_backend:
            continue
        if settings.osmo.installs_service and other.osmo.installs_service:
            problem = f"{other.stack} has its control plane at {url} too."
            yield Finding(
                Severity.ERROR, TOPIC, settings.stack, problem, "osmo.access.host: a name of its own.", SOURCE
            )
            continue
        if other.osmo.backend_name == name:
            problem = f"The agents of {other.stack} log in at {url} as '{name}' too: it would be one cluster to OSMO."
            yield Finding(
                Severity.ERROR, TOPIC, settings.stack, problem, "osmo.backendName: a name of its own.", SOURCE
            )
        for owner, member in ((settings, other), (other, settings)):
            if owner.osmo.installs_service and member.stack not in owner.osmo.backends:
                problem = f"The agents of {member.stack} work for {owner.stack}, which does not serve it."
                fix = f"osmo.backends: [{member.stack}] in the stack {owner.stack}."
                yield Finding(Severity.ERROR, TOPIC, settings.stack, problem, fix, SOURCE)
