"""The cluster autoscaler in operation: it watches the API server, and asks Azure for nodes."""

from __future__ import annotations

import logging
import time
from collections import Counter
from dataclasses import dataclass

from physical_ai.kubernetes.fit import Offer
from simulator.azure.own_facts import POOL_LABEL
from simulator.clock import seconds_per_idle_minute, seconds_per_model_minute
from simulator.cluster.objects import Json, at, is_terminating, labels, name
from simulator.kubernetes.client import MERGE_PATCH
from simulator.scheduling.autoscaler import COMPONENT
from simulator.scheduling.autoscaler.expander import CONFIG_MAP, NAMESPACE, PRIORITY, InvalidPriorities, choice
from simulator.scheduling.autoscaler.growth import Choice, Group, Growth, ScaleUp, is_candidate, scale_up
from simulator.scheduling.autoscaler.idle import IdleNodes, blocks_scale_down, is_removable, minutes
from simulator.scheduling.autoscaler.pools import Pools, Scaled, ScaledPool
from simulator.scheduling.autoscaler.report import Report
from simulator.scheduling.autoscaler.template import instance_of, template, works
from simulator.scheduling.kai.decision import uid_of
from simulator.scheduling.kai.live import offers_of
from simulator.scheduling.view import View

log = logging.getLogger(COMPONENT)
POLL_SECONDS = 1.0
"""Seconds between two rounds while Pods wait. The autoscaler polls because the end of an operation in Azure causes no
event in the API server.
"""
BACKOFF_MINUTES, LONGEST_BACKOFF_MINUTES = 5, 30
TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
NOTHING = ScaleUp(None, (), frozenset())


@dataclass(frozen=True)
class Backoff:
    until: float
    minutes: int
    problem: str


class Autoscaler:
    """Adds nodes for waiting Pods, and removes nodes that have been idle for a while."""

    def __init__(self, view: View, pools: Pools) -> None:
        self._view, self._pools = view, pools
        self._backoffs: dict[str, Backoff] = {}
        self._idle, self._report = IdleNodes(), Report(view)
        self._added = 0.0
        self._reported: dict[str, str] = {}
        self._resumed = False

    def round(self) -> float | None:
        """Runs one round. Returns the seconds until the next round, or None if no round is needed before something
        changes in the cluster.
        """
        if not self._resumed:
            self._resume()
        now = time.monotonic()
        pods, scaled = self._view.pods, self._pools.now()
        candidates = [pod for pod in pods if is_candidate(pod)]
        pause = POLL_SECONDS if candidates else None
        if not scaled.pools:
            return pause
        nodes = [node for node in self._view.nodes if not is_terminating(node)]
        found = NOTHING
        if candidates:
            found = self._scale_up(scaled, candidates, nodes, pods)
            if found.growth is not None:
                self._grow(found.growth)
                return 0.0
            self._refuse(found)
        self._reported = {
            uid: message for uid, message in self._reported.items() if uid in {uid_of(pod) for pod in candidates}
        }
        due = self._shrink(scaled, nodes, pods, found, now)
        self._report.write(scaled, nodes, self._idle.since, self._refusals())
        return min((each for each in (pause, due) if each is not None), default=None)

    def _resume(self) -> None:
        """Finishes the resizes that an earlier autoscaler process began, and removes the taints from the nodes that the
        earlier process was about to remove (core/static_autoscaler.go, cleanUpIfRequired).
        """
        self._pools.finish(Counter(labels(node).get(POOL_LABEL, "") for node in self._view.nodes))
        for node in self._view.nodes:
            taints: list[Json] = at(node, "spec.taints", [])
            kept = [taint for taint in taints if taint["key"] != TO_BE_DELETED]
            if kept != taints:
                self._view.patch(f"/api/v1/nodes/{name(node)}", {"spec": {"taints": kept}}, MERGE_PATCH)
        self._resumed = True

    # Scaling up

    def _scale_up(self, scaled: Scaled, candidates: list[Json], nodes: list[Json], pods: list[Json]) -> ScaleUp:
        ready = [node for node in nodes if works(node)]
        offers = offers_of(ready, pods)
        by_pool: dict[str, list[Offer]] = {}
        for offer in offers:
            by_pool.setdefault(labels(offer.node).get(POOL_LABEL, ""), []).append(offer)
        daemonsets: list[Json] = self._view.client.get("/apis/apps/v1/daemonsets")["items"]
        groups = [self._group(pool, by_pool.get(pool.pool, []), daemonsets) for pool in scaled.pools]
        return scale_up(candidates, offers, groups, self._choice(scaled))

    def _choice(self, scaled: Scaled) -> Choice:
        """Choice among pools that the cluster's profile asks for. Without usable priorities no pool grows."""
        path = f"/api/v1/namespaces/{NAMESPACE}/configmaps/{CONFIG_MAP}"
        asked = scaled.profile.get("expander") == PRIORITY
        try:
            return choice(scaled.profile, self._view.client.find(path) if asked else None)
        except InvalidPriorities as problem:
            log.warning("%s", problem)
            return lambda _: None

    def _group(self, pool: ScaledPool, mine: list[Offer], daemonsets: list[Json]) -> Group:
        upcoming = max(pool.count - len(mine), 0)
        return Group(pool, template(pool, mine, daemonsets), upcoming, self._waits(pool.pool))

    def _waits(self, pool: str) -> bool:
        backoff = self._backoffs.get(pool)
        return backoff is not None and backoff.until > time.monotonic()

    def _refusals(self) -> dict[str, str]:
        """Azure's reason for refusing the last growth of a pool, by pool. Only pools are included for which the
        autoscaler still waits before it tries again.
        """
        return {pool: each.problem for pool, each in self._backoffs.items() if self._waits(pool)}

    def _grow(self, growth: Growth) -> None:
        pool = growth.group.pool
        size = pool.count + growth.added
        sizes = f"{size} instead of {pool.count} (max: {pool.most})"
        log.info("scale-up: setting group %s size to %s", pool.scale_set, sizes)
        self._report.record_event("ScaledUpGroup", f"Scale-up: setting group {pool.scale_set} size to {sizes}")
        problem = self._pools.resize(pool, size)
        if problem:
            self._fail(pool, problem)
            return
        self._added = time.monotonic()
        self._backoffs.pop(pool.pool, None)
        self._report.record_event("ScaledUpGroup", f"Scale-up: group {pool.scale_set} size set to {sizes}")
        for pod in growth.pods:
            self._view.record_event(pod, COMPONENT, "TriggeredScaleUp", f"pod triggered scale-up: [{growth}]")

    def _fail(self, pool: ScaledPool, problem: str) -> None:
        log.warning("scale-up failed for group %s: %s", pool.scale_set, problem)
        before = self._backoffs.get(pool.pool)
        wait = min(before.minutes * 2, LONGEST_BACKOFF_MINUTES) if before else BACKOFF_MINUTES
        self._backoffs[pool.pool] = Backoff(time.monotonic() + wait * seconds_per_model_minute(), wait, problem)
        message = f"Scale-up failed for group {pool.scale_set}: {problem}"
        self._report.record_event("FailedToScaleUpGroup", message, "Warning")

    def _refuse(self, found: ScaleUp) -> None:
        for pod, message in found.refused:
            if self._reported.get(uid_of(pod)) != message:
                self._reported[uid_of(pod)] = message
                log.info("%s/%s: %s", at(pod, "metadata.namespace"), name(pod), message)
                self._view.record_event(pod, COMPONENT, "NotTriggerScaleUp", message)

    # Scaling down

    def _shrink(self, scaled: Scaled, nodes: list[Json], pods: list[Json], found: ScaleUp, now: float) -> float | None:
        """Removes one node that has been idle for long enough. Returns the seconds until the next node will have been
        idle for long enough, or None if no other node is idle.
        """
        busy = {str(at(pod, "spec.nodeName", "")) for pod in pods if blocks_scale_down(pod)}
        shrinkable = {pool.pool: pool for pool in scaled.pools if pool.count > pool.least}
        idle = {
            name(node): (node, shrinkable[pool])
            for node in nodes
            if (pool := labels(node).get(POOL_LABEL, "")) in shrinkable and is_removable(node, busy, found.needed)
        }
        self._idle.note(idle, now)
        due = {host: self._due(scaled, node, host) for host, (node, _) in idle.items()}
        for host in sorted(due, key=due.__getitem__):
            if due[host] > now:
                return due[host] - now
            self._remove(*idle[host])
            return 0.0
        return None

    def _due(self, scaled: Scaled, node: Json, host: str) -> float:
        wait = minutes(scaled.profile, "scale-down-unneeded-time" if works(node) else "scale-down-unready-time")
        delay = minutes(scaled.profile, "scale-down-delay-after-add")
        scale = seconds_per_idle_minute()
        return max(self._idle.due(host, wait * scale), self._added + delay * scale if self._added else 0.0)

    def _remove(self, node: Json, pool: ScaledPool) -> None:
        """Taints the node, checks that no Pod came to it meanwhile, and gives its machine back to Azure."""
        path, host = f"/api/v1/nodes/{name(node)}", name(node)
        before: list[Json] = at(node, "spec.taints", [])
        closed = [*before, {"key": TO_BE_DELETED, "value": str(int(time.time())), "effect": "NoSchedule"}]
        if not self._view.patch(path, {"spec": {"taints": closed}}, MERGE_PATCH):
            return
        on_it = self._view.client.get("/api/v1/pods", {"fieldSelector": f"spec.nodeName={host}"})["items"]
        if any(map(blocks_scale_down, on_it)):
            self._view.patch(path, {"spec": {"taints": before}}, MERGE_PATCH)
            return
        log.info("scale-down: removing empty node %s of %s", host, pool.scale_set)
        self._report.record_event("ScaleDownEmpty", f'Scale-down: removing empty node "{host}"')
        problem = self._pools.resize(pool, pool.count - 1, {instance_of(node)})
        if problem:
            log.warning("scale-down of %s failed: %s", host, problem)
            self._view.patch(path, {"spec": {"taints": before}}, MERGE_PATCH)
            return
        self._idle.since.pop(host, None)
        self._report.record_event("ScaleDownEmpty", f'Scale-down: empty node "{host}" removed')
        self._view.record_event(node, COMPONENT, "ScaleDown", "node removed by cluster autoscaler")
