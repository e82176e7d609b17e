"""Examples for the rules on workloads."""

from __future__ import annotations

from workbench.policies.examples.model import AGENT, REQUESTS, Example, workload
from workbench.policies.model import UNKNOWN
from workbench.policies.workloads import CRON_JOB, DAEMON_SET

EXAMPLES: dict[str, list[Example]] = {
    "image-by-digest": [
        Example(DAEMON_SET, {"spec": workload()}, {"spec": workload({"image": "docker.io/library/ubuntu:22.04"})}),
        Example(
            DAEMON_SET,
            {"spec": workload({"image": UNKNOWN})},
            {"spec": workload(initContainers=[{"image": "ubuntu", "resources": REQUESTS}])},
        ),
    ],
    "on-the-host": [
        Example(
            CRON_JOB,
            {"spec": {"jobTemplate": {"spec": workload()}}},
            {"spec": {"jobTemplate": {"spec": workload(hostPID=True)}}},
        ),
        Example(DAEMON_SET, AGENT, {"metadata": {"name": "another"}}),
        Example(DAEMON_SET, {"spec": workload()}, {"spec": workload(hostNetwork=True)}),
        Example(DAEMON_SET, {"spec": workload()}, {"spec": workload({"securityContext": {"privileged": True}})}),
        Example(DAEMON_SET, {"spec": workload()}, {"spec": workload(volumes=[{"hostPath": {"path": "/"}}])}),
    ],
    "workload-requests": [
        Example(DAEMON_SET, {"spec": workload()}, {"spec": workload({"resources": {"requests": {"cpu": "1"}}})}),
    ],
    "one-node-after-the-other": [
        Example(DAEMON_SET, {"spec": workload()}, {"spec": {**workload(), "updateStrategy": {}}}),
        Example(
            DAEMON_SET,
            {"spec": {**workload(), "updateStrategy": {"type": "OnDelete"}}},
            {"spec": {**workload(), "updateStrategy": {"rollingUpdate": {"maxUnavailable": "25%"}}}},
        ),
    ],
}
