"""How the doctor's diagnosis grows with the number of nodes, beside decoding the same lists from JSON.

On each node run four Pods; one in ten Pods more waits for a GPU: half of them lack a toleration, half find their pool
full. One node in ten has an alert, and no part of the platform is there: each is compared, and named. Reading the lists
from an API server is not measured; the number of requests does not grow with the nodes.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from measure import table, timed

from physical_ai.readiness.nodes.signs import Alert
from physical_ai.readiness.workloads import Workloads, doctor
from tests.support import workload_objects as make

COUNTS = (10, 100, 1000)
H100: dict[str, Any] = {"nodeSelector": {"agentpool": "h100gpu"}}
FULL = "0/1000 nodes are available: 1000 Insufficient nvidia.com/gpu."


def cluster(nodes: int) -> Workloads:
    """A cluster whose GPUs are all in use."""
    hosts = [make.labeled(make.node("h100gpu", each), {"nvidia.com/gpu.present": "true"}) for each in range(nodes)]
    ready = [{"type": "Ready", "status": "True"}]
    pods = [
        make.on(host["metadata"]["name"], make.pod(f"{host['metadata']['name']}-{pod}", gpus=int(pod == 0)),
                phase="Running", conditions=ready)
        for host in hosts
        for pod in range(4)
    ]  # fmt: skip
    for number in range(nodes * 4 // 10):
        more: dict[str, Any] = {"tolerations": []} if number % 2 else {}
        pods.append(make.unschedulable(make.pod(f"waits-{number}", **H100, **more), FULL))
    alerts = [Alert("GPUHealthFailure", {"node": host["metadata"]["name"], "gpu": "0"}) for host in hosts[::10]]
    more = {"alerts": alerts, "platform": make.nothing_installed()}
    return make.Scene(pods, hosts, more).workloads()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=3, help="measurements of each, of which the median counts")
    options = parser.parse_args()
    rows: list[Sequence[object]] = []
    before = 0.0
    for count in COUNTS:
        given = cluster(count)
        text = json.dumps({key: value for key, value in asdict(given).items() if key in ("nodes", "pods")})
        found = doctor(given)
        judged = statistics.median(timed(lambda given=given: doctor(given)) for _ in range(options.times))
        decoded = statistics.median(timed(lambda text=text: json.loads(text)) for _ in range(options.times))
        growth = f"{judged / before:.1f}" if before else "-"
        rows.append((count, len(given.pods), len(found), judged, decoded, judged / decoded, growth))
        before = judged
    columns = ("nodes", "Pods", "findings", "doctor s", "JSON s", "doctor / JSON", "of the row above")
    table("the doctor, and decoding its lists", columns, rows)


if __name__ == "__main__":
    main()
