"""Third-party clients of a simulated API server, such as the scheduler, and their restart after they give up."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

KWOK_STAGES = Path(__file__).parent / "kwok.yaml"
LEASE_SECONDS = 40
SCHEDULER: Mapping[str, Any] = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "leaderElection": {"leaderElect": False},
    "clientConnection": {"kubeconfig": "pki/kube-scheduler.kubeconfig", "qps": 500, "burst": 1000},
}
PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "kube-controller-manager": (
        "--kubeconfig=pki/kube-controller-manager.kubeconfig",
        "--secure-port=0",
        "--leader-elect=false",
        "--root-ca-file=pki/ca.crt",
        "--service-account-private-key-file=pki/service-accounts.key",
        "--use-service-account-credentials=false",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        "--profiling=false",
    ),
    "kube-scheduler": ("--config=scheduler.json", "--secure-port=0"),
    "kwok": (
        "--kubeconfig=admin.kubeconfig",
        f"--config={KWOK_STAGES}",
        "--manage-all-nodes",
        "--cidr=10.244.0.0/16",
        "--node-ip=127.0.0.1",
        f"--node-lease-duration-seconds={LEASE_SECONDS}",
    ),
}
"""Command-line arguments of each program, in the order in which the programs are started."""
GIVES_UP_SECONDS = 10.0
"""Seconds that kube-controller-manager waits for a healthy API server before it ends (kubernetes/kubernetes
cmd/kube-controller-manager/app, WaitForAPIServer). On a busy machine the server needs longer."""
ATTEMPTS = 3


def keep_running(
    names: Sequence[str],
    waited: float,
    *,
    running: Callable[[], Collection[str]],
    start: Callable[[str], None],
    sleep: Callable[[float], None],
) -> str | None:
    """Restarts clients that have ended, once the API server is ready.

    Returns the name of a client that ends again after each restart, or None if all keep running. A missing client
    causes no error message: for example, Pods would just stay pending.

    Args:
        names: Names of the client processes.
        waited: Seconds between the start of the clients and the readiness of the server. If the server took longer than
            half of `GIVES_UP_SECONDS`, clients may be about to end: the function first waits until the time in which
            they can end is over.
    """
    if waited > GIVES_UP_SECONDS / 2:
        sleep(max(0.0, GIVES_UP_SECONDS + 1 - waited))
    for _ in range(ATTEMPTS):
        live = running()
        ended = [name for name in names if name not in live]
        if not ended:
            return None
        for name in ended:
            start(name)
        sleep(GIVES_UP_SECONDS + 1)
    live = running()
    return next((name for name in names if name not in live), None)
