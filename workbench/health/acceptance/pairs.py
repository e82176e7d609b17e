"""Checks over pairs of nodes, after each node has passed its own checks: choice of the pairs, their Jobs, and the
results for both nodes.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from physical_ai.catalog.acceptance import AcceptanceLevel, Check
from physical_ai.catalog.nccl import figure
from physical_ai.kubernetes.objects import Json, name
from physical_ai.planning.acceptance_ranks import ranks_job, ranks_objects
from physical_ai.readiness.client import Send
from physical_ai.readiness.reader import Missing
from physical_ai.settings.facts.acceptance import PoolCheck, gpu_request, image_of, no_image, pool_checks
from physical_ai.settings.facts.fabric import adapters, rdma_request
from physical_ai.settings.facts.pools import gpus_per_node
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings
from workbench.health.acceptance.busy import blocking_reason, offered
from workbench.health.acceptance.jobs import run_job
from workbench.health.acceptance.judging_ranks import MultiNodeSetup, judge_ranks
from workbench.health.acceptance.keys import new_key
from workbench.health.acceptance.record import LABEL, CheckResult, NodeResult, Verdict

PAIRS_AT_ONCE = 4
ALONE = "no other node of the pool has passed its own checks in this run, and the check is one of two nodes"
Pair = tuple[int, int]


def shared_checks(pool: Pool, level: AcceptanceLevel) -> list[Check]:
    """The checks of a pool that run over several nodes at once. Skipped checks are left out."""
    return [each.check for each in pool_checks(pool, level) if each.check.nodes > 1 and not each.skipped]


def single_checks(pool: Pool, level: AcceptanceLevel) -> list[PoolCheck]:
    """The checks of a pool that run on one node, and all skipped checks, including those over several nodes."""
    return [each for each in pool_checks(pool, level) if each.check.nodes == 1 or each.skipped]


def rounds(members: Sequence[int]) -> list[list[Pair]]:
    """Pairs of members, in rounds. The pairs of one round run at the same time.

    In the first round, each member is in one pair. If the number of members is odd, the last member is left over, and
    is paired with the first member in a second round.
    """
    pairs = list(zip(members[::2], members[1::2], strict=False))
    odd = [[(members[-1], members[0])]] if len(members) % 2 and len(members) > 1 else []
    return [pairs, *odd] if pairs else []


@dataclass(frozen=True)
class Pairs:
    """Runner of the checks over pairs of nodes in one cluster. It has the same fields as `Acceptance`."""

    send: Send
    settings: Settings
    level: AcceptanceLevel
    progress: Callable[[str, str, str], None]
    stop: threading.Event

    def run(self, nodes: Sequence[Json], results: Sequence[NodeResult]) -> list[NodeResult]:
        """The nodes' results, with the results of the checks over pairs added. A node that has not passed its own
        checks is in no pair.

        Raises:
            Stopped, Unreachable, Unusable: as in `run_job`.
        """
        done = list(results)
        for pool_name in dict.fromkeys(each.pool for each in results):
            pool = self.settings.pools[pool_name]
            members = [n for n, each in enumerate(results) if each.pool == pool_name and each.passed]
            for check in shared_checks(pool, self.level):
                if len(members) == 1:
                    done[members[0]] = _added(done[members[0]], CheckResult(check.name, "skipped", ALONE))
                for pairs in rounds(members):
                    found = self._round(pool, check, pairs, nodes, done)
                    for number, each in found:
                        done[number] = _added(done[number], each)
        return done

    def _round(
        self, pool: Pool, check: Check, pairs: Sequence[Pair], nodes: Sequence[Json], results: Sequence[NodeResult]
    ) -> list[tuple[int, CheckResult]]:
        with ThreadPoolExecutor(PAIRS_AT_ONCE) as workers:
            runs = [
                workers.submit(self._pair, pool, check, [(nodes[each], results[each]) for each in pair])
                for pair in pairs
            ]
            try:
                found = [run.result() for run in runs]
            except BaseException:
                self.stop.set()
                raise
        return [
            (number, each)
            for pair, both in zip(pairs, found, strict=True)
            for number, each in zip(pair, both, strict=True)
        ]

    def _pair(self, pool: Pool, check: Check, pair: Sequence[tuple[Json, NodeResult]]) -> list[CheckResult]:
        names = [name(node) for node, _ in pair]
        try:
            result = self._result(pool, check, pair)
        except Missing as problem:
            result = [CheckResult(check.name, "no-verdict", f"a node or its namespace is gone: {problem}")] * len(pair)
        for own, each in zip(names, result, strict=True):
            self.progress(own, check.name, f"{each.verdict}: {each.message}")
        return result

    def _result(self, pool: Pool, check: Check, pair: Sequence[tuple[Json, NodeResult]]) -> list[CheckResult]:
        names = [name(node) for node, _ in pair]
        image = image_of(self.settings, check)
        if image is None:
            return [CheckResult(check.name, "skipped", no_image(check))] * len(pair)
        hindered = [self._hindered(pool, check, each) for each in names]
        if any(hindered):
            return [_not_run(check, own, names, hindered) for own in names]
        job = f"accept-{check.name}-{secrets.token_hex(3)}"
        body = ranks_job(self.settings, check, pool, image, name=job, nodes=names, labels={LABEL: names[0][:63]})
        ran = run_job(
            self.send,
            body,
            self.stop,
            lambda doing: self.progress(names[0], check.name, doing),
            ranks_objects(pool, job, new_key()),
        )
        found: list[CheckResult] = []
        for own, (_, before) in zip(names, pair, strict=True):
            given = self._given(pool, len(pair), before.baseline.get(check.name, {}))
            judged = judge_ranks(check, ran, given)
            others = ", ".join(each for each in names if each != own)
            found.append(replace(judged, message=f"with {others}: {judged.message}"))
        return found

    def _hindered(self, pool: Pool, check: Check, node: str) -> tuple[Verdict, str] | None:
        fresh: Json = self.send("GET", f"/api/v1/nodes/{node}", {})
        rdma = {key: int(count) for key, count in rdma_request(self.settings, pool, gpus_per_node(pool)).items()}
        return blocking_reason(self.send, node, {**gpu_request(check, pool), **rdma}, offered(fresh))

    def _given(self, pool: Pool, nodes: int, baseline: Mapping[str, float]) -> MultiNodeSetup:
        return MultiNodeSetup(pool.sku, nodes, gpus_per_node(pool), adapters(pool), figure(pool.sku, nodes), baseline)


def _not_run(
    check: Check, own: str, names: Sequence[str], hindered: Sequence[tuple[Verdict, str] | None]
) -> CheckResult:
    """Result for the node `own` of a check over a pair that could not run. A problem of the node `own` decides the
    verdict; a problem of only the other node gives `no-verdict`.

    `hindered`: for each node in `names`, the verdict and the problem that prevented the check; None for a node without
    a problem.
    """
    found = dict(zip(names, hindered, strict=True))
    mine = found[own]
    if mine is not None:
        return CheckResult(check.name, *mine)
    others = "; ".join(f"{each}: {problem[1]}" for each, problem in found.items() if problem is not None)
    return CheckResult(check.name, "no-verdict", f"the other node of the pair was not ready for it: {others}")


def _added(result: NodeResult, each: CheckResult) -> NodeResult:
    """The node's result with the check result `each` added. If the check has a result already, the worse of the two
    counts.
    """
    earlier = next((one for one in result.checks if one.check == each.check), None)
    if earlier is not None and (earlier.verdict != "passed" or each.verdict == "passed"):
        return result
    checks = [*(one for one in result.checks if one.check != each.check), each]
    baseline = dict(result.baseline)
    if each.verdict == "passed" and each.measured:
        baseline.setdefault(each.check, each.measured)
    return replace(result, checks=checks, baseline=baseline)
