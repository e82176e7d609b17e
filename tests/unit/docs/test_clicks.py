"""Everything is at most two clicks away from the start page of its reader."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.support.documentation import ROOT, anchors, links, name, pages

START = ROOT / "docs" / "start"
MOST = 2
NOT_READ = {"CHANGELOG.md"}
"""Pages that link to everything because they are a history, which nobody takes as a way."""

THINGS = {
    "platform-engineer": {
        "which tools, roles and providers a deployment needs": "docs/prerequisites.md",
        "the first workflow on a real subscription": "README.md#on-a-real-subscription",
        "a repository of one's own": "docs/own-repository.md",
        "which file sets a value": "docs/settings.md",
        "add a pool": "docs/settings.md#a-node-pool",
        "a private network with a VPN": "docs/networks.md#a-private-stack-with-a-vpn",
        "renew the gateway's certificate": "docs/osmo.md#a-renewed-certificate",
        "upgrade the GPU Operator": "docs/gpu-stack.md#upgrading-the-gpu-operator",
        "change a driver without ending jobs": "docs/gpu-stack.md#changing-a-driver",
        "what it costs": "docs/stacks.md",
        "deliver from GitHub without secrets": "docs/delivery.md",
        "restore the database": "docs/data-services.md#restore-the-database",
    },
    "robotics-engineer": {
        "get the osmo command": "docs/workflows.md#get-the-tools",
        "submit, watch, read logs": "docs/workflows.md#from-login-to-outputs",
        "why it waits": "docs/troubleshooting-pods.md",
        "check a workflow before it takes a GPU": "docs/workflows.md#check-a-workflow-before-it-runs",
        "keep work when a Spot node goes": "docs/workflows.md#checkpoints",
        "a sample to start from": "docs/workflows.md#samples",
        "a script of Slurm's as a workflow": "docs/slurm.md",
        "a job that hangs on several nodes": "docs/nccl.md",
        "Isaac Sim does not exit": "docs/simulation-shutdown.md",
        "what a lint rule means": "docs/reference/osmo-lint.md",
        "what a role may do": "docs/osmo.md#what-a-role-limits",
    },
    "on-call": {
        "an alert": "docs/runbooks/alerts.md",
        "no GPUs on a node": "docs/troubleshooting-gpu.md",
        "a Pod that does not run": "docs/troubleshooting-pods.md",
        "an Xid": "docs/health-modes.md",
        "replace a node": "docs/node-repair.md#replace-a-node-or-restart-it",
        "which command says what of a fault": "docs/reference/faults.md",
        "a locked stack": "docs/runbooks/locked-stack.md",
        "a stuck release": "docs/runbooks/stuck-release.md",
        "a lost cluster": "docs/runbooks/lost-cluster.md",
        "a recording for somebody without access": "docs/recordings.md",
        "what the states of the GRID agent mean": "docs/reference/grid-agent-states.md",
        "acceptance of a node": "docs/acceptance.md",
    },
    "reviewer": {
        "what a pull request changes": "docs/pull-requests.md",
        "whose jobs it ends": "docs/running-work.md",
        "what is simulated": "docs/simulator.md",
        "what a green simulation does not prove": "docs/simulator.md#what-a-green-simulator-does-not-show",
        "who reaches whom": "docs/reachability.md",
        "known ways around the admission policies": "docs/security.md#gpus",
        "a policy": "docs/reference/policies.md",
        "versions that work together": "docs/reference/catalogue.md",
        "which images run": "docs/reference/images.md",
        "why it is built so": "docs/architecture.md",
        "statements and where they are served": "docs/reference/statements.md",
    },
    "contributor": {
        "set up": "CONTRIBUTING.md#set-up",
        "run one test": "CONTRIBUTING.md#tests",
        "add a rule": "CONTRIBUTING.md#add-a-rule",
        "add a VM size": "CONTRIBUTING.md#add-a-vm-size",
        "add an optional part": "CONTRIBUTING.md#add-an-optional-part",
        "which package may import which": "docs/architecture.md#which-way-imports-point",
        "where a decision is made": "docs/architecture.md#where-a-decision-is-made",
        "models of charts": "docs/reference/chart-models.md",
        "the stand-in for Kubernetes": "docs/reference/kubernetes-stand-in.md",
        "report a vulnerability": "SECURITY.md",
    },
}
"""Things that a new reader of each start page looks for, and where they are."""


@cache
def targets(page: Path) -> frozenset[tuple[Path, str]]:
    """Pages that a page links to, each with the anchor of the link."""
    found = (
        (page.parent / path if path else page, anchor)
        for path, _, anchor in (each.partition("#") for each in links(page))
    )
    return frozenset((file.resolve(), anchor) for file, anchor in found if file.suffix == ".md")


def clicks(start: Path) -> dict[tuple[Path, str], int]:
    """Number of links from a page to each other page, and to each of their anchors that a link names."""
    found, here = {(start, ""): 0}, {start}
    for distance in range(1, MOST + 1):
        reached = {each for page in here if name(page) not in NOT_READ for each in targets(page)}
        for page, anchor in reached:
            found.setdefault((page, anchor), distance)
            found.setdefault((page, ""), distance)
        here = {page for page, _ in reached}
    return found


def distance_to(place: str, ways: dict[tuple[Path, str], int]) -> int:
    """Number of clicks to a page or a section; a section without a link is one click on the page's contents."""
    path, _, anchor = place.partition("#")
    page = (ROOT / path).resolve()
    assert not anchor or anchor in anchors(page), f"{place} does not exist"
    far = MOST + 1
    direct = ways.get((page, anchor), far)
    return min(direct, ways.get((page, ""), far) + 1) if anchor else direct


@pytest.mark.parametrize("reader", THINGS)
def test_a_reader_finds_each_thing_in_two_clicks(reader: str) -> None:
    ways = clicks(START / f"{reader}.md")
    assert len(THINGS[reader]) >= 10
    assert {thing: place for thing, place in THINGS[reader].items() if distance_to(place, ways) > MOST} == {}


def test_every_page_is_two_clicks_from_a_start_page() -> None:
    reached = {page for start in START.glob("*.md") for page, _ in clicks(start)}
    assert {name(page) for page in pages()} - {name(page) for page in reached if page.is_relative_to(ROOT)} == set()


def test_a_section_without_a_link_is_one_click_more() -> None:
    page = ROOT / "docs" / "settings.md"
    assert distance_to("docs/settings.md#numa", {(page, ""): 1}) == 2
    assert distance_to("docs/settings.md#numa", {(page, ""): 2}) == 3
    assert distance_to("docs/settings.md#numa", {(page, ""): 2, (page, "numa"): 1}) == 1


def test_there_is_a_list_for_each_start_page() -> None:
    assert {page.stem for page in START.glob("*.md")} == set(THINGS)
