"""The picture of a cluster: well-formed, with every pool and node, and with nothing of theirs taken for markup."""

from __future__ import annotations

import itertools
import re
from typing import Any
from xml.etree import ElementTree

import pytest

from workbench.cli.preview.picture import DARK, LIGHT, NODES_SHOWN, WIDTH, picture
from workbench.cli.pull_request.affected import Affected, Kind
from workbench.cli.pull_request.comment import Report, comment

SVG = "{http://www.w3.org/2000/svg}"


def pool(
    name: str = "h100gpu", nodes: int = 2, each: int = 1, offered: int | None = None, **more: Any
) -> dict[str, Any]:
    offered = each if offered is None else offered
    members = [{"name": f"{name}-{index}", "ready": True, "gpus": offered} for index in range(nodes)]
    known: dict[str, Any] = {
        "name": name,
        "size": "Standard_NC40ads_H100_v5",
        "driverSource": "operator" if each else None,
        "driverVersion": "580.173.02",
        "sharing": "none",
        "gpus": {},
        "priority": "Regular",
        "limits": None,
        "nodes": nodes,
        "ready": nodes,
        "gpusPerNode": each,
        "gpusAllocatable": offered * nodes,
        "members": members,
        "taints": ["nvidia.com/gpu=present:NoSchedule"],
    }
    return {**known, **more}


def drawn(*pools: dict[str, Any], **more: Any) -> ElementTree.Element:
    document = {"stack": "dev-westus2", "cluster": "aks-x", "pools": list(pools), "releases": [], **more}
    return ElementTree.fromstring(picture(document))  # noqa: S314 - our own text


def marked(root: ElementTree.Element, style: str) -> list[ElementTree.Element]:
    return [each for each in root.iter(f"{SVG}rect") if style in (each.get("class") or "").split()]


def titles(root: ElementTree.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SVG}title")][1:]


def words(root: ElementTree.Element) -> str:
    return "\n".join(each.text or "" for each in root.iter(f"{SVG}text"))


def in_pools(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [each for each in root.iter(f"{SVG}g") if each.get("class") == "pool"]


def test_every_pool_and_every_node_is_there() -> None:
    root = drawn(pool("system", nodes=3, each=0), pool("h100gpu", nodes=2))
    assert [each.get("id") for each in in_pools(root)] == ["pool-system", "pool-h100gpu"]
    assert [title.partition(":")[0] for title in titles(root)] == [
        *(f"system-{index}" for index in range(3)),
        "h100gpu-0",
        "h100gpu-1",
    ]
    for word in ("dev-westus2", "5 nodes", "2 GPUs offered", "Standard_NC40ads_H100_v5", "operator 580.173.02"):
        assert word in words(root)


def test_gpus_that_are_not_offered_and_nodes_that_are_not_ready_look_different() -> None:
    half = pool(nodes=1, each=4, offered=1)
    half["members"][0]["ready"] = False
    (group,) = in_pools(drawn(half))
    assert len(marked(group, "gpu")) == 1
    assert len(marked(group, "missing")) == 3
    assert len(marked(group, "unready")) == 1
    assert titles(drawn(half)) == ["h100gpu-0: not ready, 1 of 4 GPUs"]


@pytest.mark.parametrize(("slices", "offered"), [(7, 1), (6, 0)])
def test_a_shared_gpu_is_one_gpu_whatever_it_is_cut_into(slices: int, offered: int) -> None:
    gpus = {"nvidia.com/mig-1g.12gb": {"allocatable": slices, "expected": 7}}
    (group,) = in_pools(drawn(pool(nodes=1, offered=0, sharing="mig", gpus=gpus)))
    assert len(marked(group, "gpu")) == offered
    assert f"{offered}/1 GPUs, mig" in words(group)


def test_what_the_autoscaler_may_add_is_room_not_nodes() -> None:
    (group,) = in_pools(drawn(pool(nodes=1, limits={"min": 0, "max": 4})))
    assert len(marked(group, "room")) == 3
    assert len(marked(group, "node")) == 1
    assert "0 to 4" in words(group)


def test_a_large_pool_shows_the_number_of_hidden_nodes_and_remains_in_the_picture() -> None:
    root = drawn(pool(nodes=100, each=8, limits={"min": 0, "max": 200}), pool("empty", nodes=0))
    (first, second) = in_pools(root)
    assert len(marked(first, "node")) == NODES_SHOWN
    assert f"and {100 - NODES_SHOWN} more nodes" in words(first)
    assert "no nodes" in words(second)
    assert root.get("width") == str(WIDTH)
    for each in root.iter(f"{SVG}rect"):
        right = int(each.get("x", "0")) + int(each.get("width", "0"))
        bottom = float(each.get("y", "0")) + int(each.get("height", "0"))
        assert right <= WIDTH
        assert bottom <= int(root.get("height", "0"))


def test_cards_do_not_overlap() -> None:
    root = drawn(*(pool(f"p{index}", nodes=index * 9, taints=["a=b:NoSchedule"] * index) for index in range(5)))
    cards = marked(root, "card")
    for above, below in itertools.pairwise(cards):
        assert int(above.get("y", "0")) + int(above.get("height", "0")) < int(below.get("y", "0"))


def test_text_is_text() -> None:
    root = drawn(pool('<script>"&', taints=["<b>&amp;"]), cluster='"><g>')
    assert '<script>"&' in words(root)
    assert "<b>&amp;" in words(root)
    assert root.get("aria-label") == 'dev-westus2: "><g>'


def test_a_stack_without_a_cluster_can_be_drawn() -> None:
    assert "no cluster" in words(drawn(cluster=None))


def test_both_themes_colour_the_same_things_and_are_readable() -> None:
    assert LIGHT.keys() == DARK.keys()
    for theme in (LIGHT, DARK):
        card = _luminance(theme[".card"])
        for selector in ("text", ".small, .dim", ".spot"):
            text = _luminance(theme[selector])
            bright, dark = max(card, text), min(card, text)
            assert (bright + 0.05) / (dark + 0.05) >= 4.5, f"{selector}: too little contrast"


def _luminance(rule: str) -> float:
    """Relative luminance of a rule's fill (WCAG 2)."""
    found = re.search(r"fill: #(..)(..)(..)", rule)
    assert found is not None
    parts = [int(part, 16) / 255 for part in found.groups()]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_comment_names_the_picture() -> None:
    report = Report(Affected("dev-westus2", Kind.REMOVED, ("x",)), picture="dev-westus2.svg")
    assert "`dev-westus2.svg`" in comment([report], ["x"])
