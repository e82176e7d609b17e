"""Records this machine, at once and then every few hours; or removes old records, once."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from datetime import datetime, timezone
from typing import Any

from gpu_evidence import collect, record
from gpu_evidence.retention import expired
from json_http import ApiServer, Refused, of_pod

AGAIN_SECONDS, RETRY_SECONDS = 6 * 3600, 60
"""Until the next record, and until another try after a failure. A start of the machine starts this program, too."""
LOOK_SECONDS = 30
"""Between two looks at the ports of the network between nodes; another state of one is recorded at once."""


def save(api: ApiServer, namespace: str, node: str, vm: str, data: dict[str, Any]) -> None:
    """Writes documents into the machine's ConfigMap, which may not exist yet. Raises Refused."""
    folder = f"/api/v1/namespaces/{namespace}/configmaps"
    given = record.name(node, vm)
    change = record.patch(node, data, now())
    try:
        api.request("PATCH", f"{folder}/{given}", change)
    except Refused as refusal:
        if refusal.code != 404:
            raise
        try:
            api.request("POST", folder, record.config_map(namespace, given, change))
        except Refused as other:
            if other.code != 409:  # the Pod of the other mode was faster
                raise
            api.request("PATCH", f"{folder}/{given}", change)


def held_documents(api: ApiServer, namespace: str, given: str) -> dict[str, Any]:
    """The documents of a ConfigMap by key; none where it does not exist yet. Raises Refused."""
    try:
        data = record.part(api.request("GET", f"/api/v1/namespaces/{namespace}/configmaps/{given}"), "data")
    except Refused as refusal:
        if refusal.code != 404:
            raise
        return {}
    return {key: json.loads(text) for key, text in data.items() if text}


def once(api: ApiServer, mode: str, namespace: str, node: str) -> None:
    """One record of this machine. Raises Refused."""
    found, time = collect.machine(), now()
    held = held_documents(api, namespace, record.name(node, found["vmUniqueId"]))
    if mode == "machine":
        facts = record.node_facts(api.request("GET", f"/api/v1/nodes/{node}"))
        documents = record.machine_documents(held, facts, found, time)
    else:
        documents = record.gpu_documents(held, found, collect.asked_gpus(), time)
    save(api, namespace, node, found["vmUniqueId"], documents)


def prune(api: ApiServer, namespace: str, days: int, most: int) -> list[str]:
    """Removes records of machines that are gone; their names. Raises Refused."""
    folder = f"/api/v1/namespaces/{namespace}/configmaps"
    records = record.listed(api.request("GET", f"{folder}?labelSelector={record.LABEL.replace('/', '%2F')}"))
    nodes = [str(each["metadata"]["name"]) for each in record.listed(api.request("GET", "/api/v1/nodes"))]
    gone = expired(records, nodes, datetime.now(timezone.utc), days, most)
    for each in gone:
        remove(api, f"{folder}/{each}")
    return gone


def remove(api: ApiServer, path: str) -> None:
    """Deletes an object, which may be gone already. Raises Refused."""
    try:
        api.request("DELETE", path)
    except Refused as refusal:
        if refusal.code != 404:
            raise


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="evidence-agent", description=__doc__)
    parser.add_argument("mode", choices=("machine", "gpus", "prune"))
    parser.add_argument("--days", type=int, default=90, help="prune: how long records of machines that are gone stay")
    parser.add_argument("--most", type=int, default=500, help="prune: how many records stay in all")
    given = parser.parse_args(arguments)
    namespace, api = os.environ["POD_NAMESPACE"], of_pod()
    if given.mode == "prune":
        try:
            for each in prune(api, namespace, given.days, given.most):
                print(f"removed {each}", flush=True)
        except Refused as refusal:
            print(refusal, file=sys.stderr)
            return 1
        return 0
    end = threading.Event()

    def stop(signum: int, frame: object) -> None:
        del signum, frame
        end.set()

    signal.signal(signal.SIGTERM, stop)
    while not end.is_set():
        seen = collect.ports()
        try:
            once(api, given.mode, namespace, os.environ["NODE_NAME"])
            wait = AGAIN_SECONDS
        except Refused as refusal:
            print(refusal, file=sys.stderr, flush=True)
            wait = RETRY_SECONDS
        rest(end, wait, seen)
    return 0


def rest(end: threading.Event, seconds: float, seen: list[dict[str, str]] | None) -> None:
    """Waits so long, or until the ports are not as they were seen."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not end.wait(min(left, LOOK_SECONDS)):
        if collect.ports() != seen:
            return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
