"""Faults of the API server as the agent meets it, and of labels that others change."""

from __future__ import annotations

from tests.host.faults import Act, Fault
from tests.host.harness import PAUSED, Harness
from tests.host.operator import PREFIX


def _away(harness: Harness) -> None:
    harness.cluster.stop()


def _back(harness: Harness) -> None:
    harness.cluster.start(harness.node.where)


def _refused(pattern: str, code: int, reason: str, message: str, times: int = 1_000_000) -> Act:
    def act(harness: Harness) -> None:
        harness.cluster.refused(pattern, code, reason, message, times)

    return act


def _no_more_refusals(harness: Harness) -> None:
    harness.cluster.refuse.clear()


FORBIDDEN = (
    'nodes "rtx-0" is forbidden: User "system:serviceaccount:gpu-operator:grid-driver" cannot patch resource "nodes"'
)
CONFLICT = "the object has been modified; please apply your changes to the latest version and try again"


def _stripped(harness: Harness) -> None:
    """The operator of 26.7 rewrites labels that it thinks it owns."""
    harness.node.hold("installer:build")
    harness.mend_later = _released


def _released(harness: Harness) -> None:
    harness.wait(
        "the build runs behind the gate", lambda: harness.node.held("installer:build") and len(harness.gated) == 7
    )
    harness.cluster.set_labels({f"{PREFIX}{name}": "true" for name in harness.gated})
    harness.wait("the gate is closed again", lambda: len(harness.gated) == 7)
    harness.node.release("installer:build")


def _still_ready(harness: Harness) -> None:
    harness.pause(0.5, lambda: harness.serves(harness.new.version), "the driver serves without the API server")


def _token_renewed(harness: Harness) -> None:
    """The kubelet writes a new token long before the old one ends."""
    harness.cluster.token = "another-token"
    harness.node.write("/opt/pod/serviceaccount/token", "another-token")
    harness.cluster.set_labels({f"{PREFIX}dcgm": PAUSED})
    harness.wait("it talks to the API server again", lambda: not harness.gated)


FAULTS = (
    Fault(
        "the token is renewed", "recovers", "Reads it at every request.", served=True, then=_token_renewed, deep=True
    ),
    Fault(
        "the API server is unreachable",
        "waits",
        "Asks again; changes nothing that pods could be using; says so on its own page.",
        live=_away,
        says="(?i)API",
        where="memory",
        mend=_back,
    ),
    Fault(
        "the API server is gone while the driver serves",
        "waits",
        "The driver goes on serving.",
        served=True,
        live=_away,
        says="(?i)API|works",
        where="memory",
        mend=_back,
        then=_still_ready,
        still="595.91.07",
        deep=True,
    ),
    Fault(
        "the account may not patch its node",
        "waits",
        "Changes no driver behind a gate that it can't close; names the missing right.",
        live=_refused("PATCH", 403, "Forbidden", FORBIDDEN),
        says="(?i)forbidden|permission",
        where="memory",
        mend=_no_more_refusals,
        runs_nothing=True,
        deep=True,
    ),
    Fault(
        "the account may not list pods elsewhere",
        "recovers",
        "Judges by the processes on the host.",
        live=_refused("GET /api/v1/pods", 403, "Forbidden", "pods is forbidden"),
        deep=True,
    ),
    Fault(
        "another client changed the node meanwhile",
        "recovers",
        "Reads it again and tries again.",
        live=_refused("PATCH", 409, "Conflict", CONFLICT, times=3),
    ),
    Fault(
        "the API server answers 500 for a while",
        "recovers",
        "Tries again.",
        live=_refused(".", 500, "InternalError", "etcdserver: request timed out", times=5),
        deep=True,
    ),
    Fault(
        "the API server asks for patience (429)",
        "recovers",
        "Tries again later.",
        live=_refused(".", 429, "TooManyRequests", "too many requests", times=5),
        deep=True,
    ),
    Fault("a user opens the gate during a build", "recovers", "Closes it again at once.", live=_stripped, deep=True),
)
