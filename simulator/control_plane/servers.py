"""Command lines of the servers of a simulated control plane, etcd and the API server. Paths are relative to the control
plane's folder.
"""

from __future__ import annotations

from pathlib import Path

ETCD = "unix://etcd.sock"
"""etcd's address: a socket in the control plane's folder, whose permissions guard the data. The path is relative to
that folder (etcd reads a URL with two slashes as a relative path), because the kernel accepts no socket path of more
than 108 characters.
"""
SERVICE_RANGE = "10.96.0.0/16"
ETCD_ARGUMENTS = (
    "--name=simulator",
    "--data-dir=etcd",
    "--log-level=warn",
    # Survives killed processes, which is what happens on a laptop; a power cut may cost the simulation.
    "--unsafe-no-fsync",
    f"--listen-client-urls={ETCD}",
    "--advertise-client-urls=http://localhost:0",
    f"--listen-peer-urls={ETCD}.peer",
    "--initial-advertise-peer-urls=http://localhost:0",
    "--initial-cluster=simulator=http://localhost:0",
)


def api_server_arguments(port: str, tokens: Path) -> tuple[str, ...]:
    """Arguments of the API server. `tokens`: file of bearer tokens that it accepts."""
    return (
        f"--etcd-servers={ETCD}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        "--tls-cert-file=pki/kube-apiserver.crt",
        "--tls-private-key-file=pki/kube-apiserver.key",
        "--cert-dir=pki",
        "--client-ca-file=pki/ca.crt",
        f"--token-auth-file={tokens}",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-account-key-file=pki/service-accounts.pub",
        "--service-account-signing-key-file=pki/service-accounts.key",
        "--authorization-mode=Node,RBAC",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        "--endpoint-reconciler-type=none",
        "--allow-privileged=true",
        "--enable-priority-and-fairness=false",
        "--profiling=false",
        "--shutdown-delay-duration=0s",
    )
