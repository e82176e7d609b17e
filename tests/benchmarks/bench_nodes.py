"""How long nodes of one pool take from the order to all of them Ready, and back to one, by their number.

The pool is resized as the cluster autoscaler would do it, in the simulated Azure, against the real API server with
KWOK. It is compared with what the API server alone takes for as many ConfigMaps of about a node's size, written by the
same client with as many threads.
"""

from __future__ import annotations

import argparse
import statistics
from concurrent.futures import ThreadPoolExecutor

from measure import note, place, table, timed

from simulator.kubernetes.client import Client
from simulator.pool_nodes import WRITERS

COUNTS = (2, 10, 100, 1000)
POOL = "h100gpu"
ROOM = (
    *("--set", "network.podCidr=10.128.0.0/12"),
    *("--set", f"pools.{POOL}.subnet=10.40.16.0/20"),
    *("--set", f"pools.{POOL}.scale={{min: 0, max: 1000, initial: 1}}"),
    *("--set", "cluster.tier=Standard"),
)
"""Settings in which one pool can have a thousand nodes."""
PADDING = "x" * 3000
"""About what a Node of AKS holds in labels, capacity and conditions."""


def main() -> None:
    options = _options()
    rows: list[list[object]] = []
    with place() as here:
        here.must("up", *ROOM)
        with here.simulation.azure() as azure:
            (cluster,) = here.simulation.clusters().ids()
            client = here.simulation.clusters().client(cluster)
            for count in sorted(options.counts):
                grow: list[float] = []
                shrink: list[float] = []
                plain: list[float] = []
                for _ in range(options.times):
                    grow.append(timed(lambda count=count: azure.autoscale(cluster, POOL, count)))
                    shrink.append(timed(lambda: azure.autoscale(cluster, POOL, 1)))
                    plain.append(timed(lambda count=count: _write(client, count - 1)))
                    _remove(client)
                made = count - 1  # one is there before
                ready, gone, alone = map(statistics.median, (grow, shrink, plain))
                rows.append([count, ready, made / ready, 1000 * ready / made, gone, alone, ready / alone])
                note(f"{count} nodes")
    columns = ("nodes", "Ready s", "nodes/s", "ms/node", "removed s", "ConfigMaps s", "ratio")
    table(f"one pool from 1 node to as many, and back; median of {options.times}", columns, rows)
    if len(rows) > 1:
        before, last = rows[-2], rows[-1]
        ratio = float(str(last[3])) / float(str(before[3]))
        print(f"\na node of {last[0]} takes {ratio:.2f} times what a node of {before[0]} takes (1: linear)")


def _write(client: Client, count: int) -> None:
    def create(number: int) -> None:
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"bench-{number}", "labels": {"bench": "nodes"}},
            "data": {"padding": PADDING},
        }
        client.request("POST", "/api/v1/namespaces/default/configmaps", body)

    with ThreadPoolExecutor(WRITERS) as writers:
        list(writers.map(create, range(count)))


def _remove(client: Client) -> None:
    client.request("DELETE", "/api/v1/namespaces/default/configmaps", params={"labelSelector": "bench=nodes"})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", nargs="*", type=int, default=COUNTS, help="numbers of nodes (default: 2 10 100 1000)")
    parser.add_argument("--times", type=int, default=3, help="runs of each; the medians are printed (default: 3)")
    options = parser.parse_args()
    if min(options.counts) < 2 or max(options.counts) > 1000:
        parser.error("numbers of nodes are from 2 to 1000")
    return options


if __name__ == "__main__":
    main()
