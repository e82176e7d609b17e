"""Decisions about the next step of an upgrade node by node. Pure functions.

Each step is one change, after which the cluster is looked at again. At most one node has its turn at a time. The first
node that fails stays cordoned and ends the upgrade; the other nodes keep their driver.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Literal

from workbench.moves import emptying
from workbench.moves.emptying import owners
from workbench.moves.progress import Limits
from workbench.rolls import marks
from workbench.rolls.marks import IN_TURN, Change, Mark
from workbench.rolls.view import AT_REST, DONE, FAILED, REQUIRED, Node, View

Outcome = Literal["act", "prove", "waiting", "held", "done", "left", "stopped"]


@dataclass(frozen=True)
class Patience:
    """Time limits. `work`: for the work of one node to end. `upgrade`: seconds in which an empty node has to get its
    driver.
    """

    work: Limits
    upgrade: float


@dataclass(frozen=True)
class Step:
    """The next step, or why there is none.

    Attributes:
        outcome: `act`: make the changes below, and look again. `prove`: run acceptance on `node`. `waiting`: look again
            later. `held`: all nodes keep their driver, and wait for the deployment. `done`: every node has its driver,
            and none is held. `left`: the same, except for nodes that `says` names. `stopped`: a node has failed, or a
            limit is over.
        evict, delete: Namespaces and names of Pods. `delete` has Pods of DaemonSets, which come back at once.
    """

    outcome: Outcome
    says: str = ""
    node: str = ""
    change: Change | None = None
    evict: tuple[tuple[str, str], ...] = ()
    delete: tuple[str, ...] = ()


def decide(view: View, patience: Patience, now: datetime.datetime, *, preparing: bool) -> Step:
    """The next step towards the newest driver on every node.

    Args:
        preparing: True before the deployment: nodes with the newest driver of the present are held, too.
    """
    time = text(now)
    first = _hold(view, time, preparing=preparing) or _failed(view) or _turn(view, patience, now)
    if first is not None:
        return first
    if view.unsettled:
        return Step("waiting", view.unsettled)
    if others := [each.name for each in view.nodes if is_upgraded_by_others(each)]:
        return Step("waiting", f"{', '.join(others)}: upgraded by the GPU Operator, without this command")
    return _next(view, time)


def _hold(view: View, time: str, *, preparing: bool) -> Step | None:
    for each in view.nodes:
        if may_be_held(each) and (each.is_outdated or (preparing and not view.is_deployed)):
            change = marks.hold(each.name, time, labelled=each.has_operators_driver)
            return Step("act", f"{each.name} keeps its driver until its turn", each.name, change)
    return None


def _turn(view: View, patience: Patience, now: datetime.datetime) -> Step | None:
    """The next step of the node whose turn it is; None if no node has its turn."""
    current = next((each for each in view.nodes if each.mark and each.mark.phase in IN_TURN), None)
    if current is None or current.mark is None:
        return None
    match current.mark.phase:
        case "emptying":
            return _empty(view, current, current.mark, patience, now)
        case "upgrading":
            return _upgrade(view, current, current.mark, patience, now)
        case _:
            return Step("prove", f"acceptance runs on {current.name}", current.name)


def text(when: datetime.datetime) -> str:
    return when.isoformat(timespec="seconds")


def may_be_held(node: Node) -> bool:
    """True for a node that nobody holds, and whose upgrade has not begun."""
    return node.mark is None and not node.skipped and node.state in (*AT_REST, REQUIRED) and bool(node.parts)


def is_upgraded_by_others(node: Node) -> bool:
    """True for a node that the GPU Operator upgrades although it has not had its turn. Its end is waited for."""
    return node.mark is None and not node.skipped and node.state not in (*AT_REST, REQUIRED, FAILED)


def _failed(view: View) -> Step | None:
    for each in view.nodes:
        if each.mark and each.mark.phase == "failed":
            return Step("stopped", f"{each.name} failed and stays cordoned: {each.mark.reason}", each.name)
        if each.mark is None and each.state == FAILED:
            fix = "correct what stopped it (physai gates), before another node loses its driver"
            return Step("stopped", f"{each.name}: the driver's upgrade failed before this command; {fix}", each.name)
    return None


def _empty(view: View, node: Node, mark: Mark, patience: Patience, now: datetime.datetime) -> Step:
    if not node.cordoned:
        return Step("act", f"{node.name} takes no new Pods", node.name, marks.begin(node.name, mark.began))
    own = emptying.View((emptying.Node(node.name, cordoned=True),), node.running, (), node.services, view.everywhere)
    found = emptying.decide(own, patience.work, _time(mark.began, now), now, "")
    if found.outcome == "empty":
        return Step("act", f"{node.name} is empty, and gets its driver", node.name, marks.start(node.name, text(now)))
    if found.outcome == "refused":
        return Step("stopped", f"{node.name}: {found.says}", node.name)
    if found.evict:
        return Step("act", f"{node.name}: {found.says}", node.name, evict=found.evict)
    return Step("waiting", f"{node.name}: {found.says}", node.name)


def _upgrade(view: View, node: Node, mark: Mark, patience: Patience, now: datetime.datetime) -> Step:
    if node.state == FAILED:
        reason = "the GPU Operator reports upgrade-failed; kubectl get events names the cause (GPUDriverUpgrade)"
        return Step("act", f"{node.name}: {reason}", node.name, marks.fail(node.name, text(now), reason))
    missing = _missing(view, node)
    if missing and (now - _time(mark.began, now)).total_seconds() >= patience.upgrade:
        reason = f"not ready after {patience.upgrade / 60:g} minutes: {missing}"
        return Step("act", f"{node.name}: {reason}", node.name, marks.fail(node.name, text(now), reason))
    if outdated := _to_delete(node):
        return Step("act", f"{node.name}: {', '.join(outdated)} start again", node.name, delete=outdated)
    if missing:
        return Step("waiting", f"{node.name}: {missing}", node.name)
    return Step("act", f"{node.name} has its driver", node.name, marks.prove(node.name, text(now)))


def _missing(view: View, node: Node) -> str:
    """Text about what the node does not have yet; empty if its driver and operands are there."""
    if view.unsettled:
        return view.unsettled
    if not node.ready:
        return "the node is not Ready"
    if not _has_driver(node):
        return f"the driver is being upgraded{f': {node.state}' if node.state else ''}"
    waiting = [each.daemon_set for each in node.parts if not each.is_there]
    if waiting:
        return f"{', '.join(waiting)} is not ready"
    return "" if node.offers else "the node does not offer all its GPUs yet"


def _has_driver(node: Node) -> bool:
    if not node.has_operators_driver:
        return True
    return node.state == DONE and all(each.is_there for each in node.parts if each.by_operator)


def _to_delete(node: Node) -> tuple[str, ...]:
    """Pods of the node's other DaemonSets that are older than the template, once the node has its driver."""
    if not _has_driver(node):
        return ()
    return tuple(each.pod for each in node.parts if each.is_outdated and not each.by_operator and not each.leaving)


def _next(view: View, time: str) -> Step:
    """The turn of the next node. Nodes without work come first: they tell soonest whether the driver works."""
    held = [each for each in view.nodes if each.mark]
    if held and not view.is_deployed:
        return Step("held", f"{_count(held)} keep their driver until their turn")
    for each in held:
        if not each.is_outdated:
            return Step("act", f"{each.name} has its driver already", each.name, marks.release(each.name))
    ready = [each for each in held if not each.cordoned and each.ready]
    if ready:
        chosen = min(ready, key=lambda each: (len(each.running), each.name))
        what = f"waits for {owners(chosen.running)}" if chosen.running else "has no work"
        return Step("act", f"{chosen.name}: its turn; it {what}", chosen.name, marks.begin(chosen.name, time))
    left = [f"{each.name} ({left_out(each)})" for each in view.nodes if each.is_outdated]
    if left:
        return Step("left", f"these nodes keep their old driver: {', '.join(left)}")
    return Step("done", "every node has its driver, and has been proved")


def left_out(node: Node) -> str:
    """Reason why a node gets no turn; empty if it gets one."""
    if node.mark is None and node.skipped:
        return "somebody else excludes it from upgrades"
    if node.mark is not None and node.mark.phase != "held":
        return ""
    if node.cordoned:
        return "somebody else has cordoned it"
    return "" if node.ready else "it is not Ready"


def _count(nodes: list[Node]) -> str:
    return f"{len(nodes)} node{'s' if len(nodes) != 1 else ''}"


def _time(began: str, now: datetime.datetime) -> datetime.datetime:
    try:
        found = datetime.datetime.fromisoformat(began)
    except ValueError:
        return now
    return found if found.tzinfo else now


def back(view: View, now: datetime.datetime) -> Step:
    """The next step of the way back: nodes whose driver has not changed are left as they were.

    While the new driver is deployed, they stay held: without the label, the GPU Operator would upgrade them at once.
    """
    for each in view.nodes:
        if each.mark and each.mark.phase == "emptying":
            change = marks.hold_again(each.name, text(now))
            return Step("act", f"{each.name} takes work again", each.name, change)
    held = [each for each in view.nodes if each.mark and each.mark.phase == "held"]
    for each in held:
        if not each.is_outdated and not view.unsettled:
            return Step("act", f"{each.name} is left as it was", each.name, marks.release(each.name))
    begun = [each.name for each in view.nodes if each.mark and each.mark.phase != "held"]
    if begun:
        fix = "it has the new driver or is getting it: deploy the former one, and go on without --back"
        return Step("stopped", f"{', '.join(begun)}: {fix}")
    if view.unsettled:
        return Step("waiting", view.unsettled)
    if held:
        fix = "deploy the former driver first, then run --back again, or go on without --back"
        return Step("stopped", f"{_count(held)} stay held, because the new driver is deployed: {fix}")
    return Step("done", "no node is held")


def again(view: View, now: datetime.datetime, *, retry: bool) -> Step | None:
    """Another attempt at a node that has failed, at the beginning of a run: if the user asks for it, or if another
    driver has been deployed since; None if there is none. Work that runs there now is waited for, as in the first turn.
    """
    for each in view.nodes:
        if each.mark is None or each.mark.phase != "failed" or view.unsettled:
            continue
        if retry or each.is_outdated:
            stuck = tuple(part.pod for part in each.parts if part.pod and part.current and not part.ready)
            change = marks.try_again(each.name, text(now), labelled=each.has_operators_driver)
            return Step("act", f"{each.name} is tried again", each.name, change, delete=stuck)
    return None
