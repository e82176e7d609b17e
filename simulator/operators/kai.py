"""Simulation of the KAI operator, and of the hook Jobs of KAI's chart, on a running cluster."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable

from physical_ai import safe_yaml
from simulator.charts import crds, modelled
from simulator.cluster import jobs
from simulator.cluster.definitions import replace_definition
from simulator.cluster.objects import Json, at, digest, name, owner, timestamp
from simulator.cluster.pods import ended
from simulator.operators.cluster import Cluster
from simulator.operators.kai_operands import OPERATOR, conditions, operands, shard_operands
from simulator.operators.kai_webhooks import OPERAND, Endpoint, answer
from simulator.scheduling import kai_names

log = logging.getLogger("operators")
CONFIG = "kai-config"
"""Name of KAI's Config object, from which the KAI operator reads its settings."""
MANIFEST = "kai-config-manifest"
_DEPLOYER = "kai-config-deployer"
_NAME_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789"
"""Characters of random names (k8s.io/apimachinery pkg/util/rand)."""


class KaiOperator:
    """Simulation of the KAI operator: creates the objects for the Config and for SchedulingShards, and writes their
    status.

    It also answers requests to KAI's webhooks while the Deployment that serves the webhook is available. The answers
    follow the command line of that Deployment's container.
    """

    def __init__(self, cluster: Cluster, endpoint: Callable[[], Endpoint | None] = lambda: None) -> None:
        self._cluster, self._endpoint = cluster, endpoint
        self._made: dict[tuple[str, str, str], str] = {}

    def run(self) -> None:
        """Runs one round; does nothing if no operator is running."""
        if self._cluster.operator() is None:
            self._made.clear()
            return
        config = next((item for item in self._cluster.configs() if name(item) == CONFIG), None)
        if config is None or at(config, "metadata.deletionTimestamp") is not None:
            return
        wanted = {name(shard): shard_operands(config, shard) for shard in self._cluster.shards()}
        own = operands(config, self._endpoint())
        live = self._cluster.managed(str(at(config, "spec.namespace", "")))
        everything = [*own, *(item for items in wanted.values() for item in items)]
        for item in everything:
            self._make(item, live)
        for key, item in live.items():
            if key not in {name(each) for each in everything if each["kind"] == "Deployment"}:
                self._cluster.delete("Deployment", str(at(item, "metadata.namespace")), key)
        live = self._cluster.managed(str(at(config, "spec.namespace", "")))
        self._report(config, own, live)
        for shard in self._cluster.shards():
            if name(shard) in wanted:  # a shard that was created meanwhile has its turn in the next look
                self._report(shard, wanted[name(shard)], live)

    def answer(self, path: str, request: Json) -> Json | None:
        """Answer of a webhook to an admission request; None while the webhook's operand has no available Pod."""
        operand = OPERAND.get(path)
        configs = (item for item in self._cluster.configs() if name(item) == CONFIG)
        namespace = str(at(next(configs, None), "spec.namespace", ""))
        found = self._cluster.managed(namespace).get(operand) if operand else None
        if found is None or not at(found, "status.availableReplicas", 0):
            return None
        args: list[str] = at(found, "spec.template.spec.containers")[0].get("args", [])
        return answer(path, request, args, "".join(random.choices(_NAME_CHARACTERS, k=7)))  # noqa: S311 - a name

    def _make(self, item: Json, live: dict[str, Json]) -> None:
        key = (item["kind"], str(at(item, "metadata.namespace", "")), name(item))
        mark = digest(item)
        lost = item["kind"] == "Deployment" and name(item) not in live
        if self._made.get(key) != mark or lost:
            self._cluster.apply(item, OPERATOR)
            self._made[key] = mark

    def _report(self, item: Json, wanted: list[Json], live: dict[str, Json]) -> None:
        wanted_conditions = conditions(item, wanted, live, timestamp())
        if wanted_conditions != at(item, "status.conditions", []):
            self._cluster.patch(item, {"status": {"conditions": wanted_conditions}}, sub="/status")


class KaiHookJobs:
    """Runs the Pods of the hook Jobs of KAI's chart. Helm waits for these Jobs."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def run(self) -> None:
        for pod in self._cluster.pods(OPERATOR):
            if at(pod, "spec.nodeName") and at(pod, "status.phase") in (None, "Pending"):
                self._run(owner(pod, "Job"), pod)
                self._cluster.patch(pod, {"status": ended(pod)}, sub="/status")
                jobs.complete(self._cluster.client, pod)

    def _run(self, job: str, pod: Json) -> None:
        namespace = str(at(pod, "metadata.namespace"))
        if job == "crd-upgrader":
            self._definitions(str(pod["spec"]["containers"][0]["image"]).rpartition(":")[2])
        elif job == _DEPLOYER:
            manifest = self._cluster.find("ConfigMap", namespace, MANIFEST) or {}
            for text in at(manifest, "data", {}).values():
                self._cluster.apply(safe_yaml.load(text), _DEPLOYER)
        elif job == "post-delete-cleanup":
            for key in self._cluster.managed(namespace):
                self._cluster.delete("Deployment", namespace, key)
            self._cluster.delete("Config", "", CONFIG)
        log.info("%s: done", job)

    def _definitions(self, release: str) -> None:
        if release in modelled()[kai_names.CHART]:
            for definition in crds(kai_names.CHART, release):
                replace_definition(self._cluster.client, definition)
