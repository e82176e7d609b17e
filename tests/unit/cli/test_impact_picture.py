"""Timeline of an impact as an SVG picture."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.unit.impact.test_judging import CLUSTER, NOW, POOLS, SERVICE, WAITING, driver, pool, release, training
from workbench.cli.preview.impact_picture import (
    LEGEND,
    MARGIN,
    ROWS,
    WIDTH,
    NoPicture,
    picture,
    write_picture,
)
from workbench.impact import Work, judge
from workbench.impact.telling import document

SVG = "{http://www.w3.org/2000/svg}"
CHANGES = [pool("replace"), pool("delete", name="rtxprogpu"), release("kai-scheduler", "version")]


def drawn(changes: list[Any], work: list[Work]) -> ET.Element:
    return ET.fromstring(picture(document(judge(changes, work, POOLS, NOW), CLUSTER), "dev <west>"))  # noqa: S314 - own


def line(svg: ET.Element, label: str) -> list[tuple[str, int, int]]:
    """Bars of the line whose label begins with `label`: class, begin and end in pixels."""
    (group,) = [
        each
        for each in svg.iter(f"{SVG}g")
        if (title := each.findtext(f"{SVG}title")) is not None and title.startswith(label)
    ]
    found = [each.attrib for each in group.iter(f"{SVG}rect") if each.attrib["class"] in LEGEND]
    return [(each["class"], int(each["x"]), int(each["x"]) + int(each["width"])) for each in found]


def test_a_pool_and_each_owner_have_a_line_and_no_bar_leaves_the_axis() -> None:
    svg = drawn(CHANGES, [training(), SERVICE, WAITING, replace(SERVICE, owner="Deployment <a>&b", pool="cpu")])
    assert [style for style, *_ in line(svg, "2 × H100 of h100gpu")] == ["sure", "gap", "maybe"]
    assert [style for style, *_ in line(svg, "1 × RTX PRO 6000 of rtxprogpu")] == ["sure"]
    assert [style for style, *_ in line(svg, "workflow train-1")] == ["sure"]
    assert [style for style, *_ in line(svg, "Deployment <a>&b")] == ["again"]
    for each in ("2 × H100", "workflow train-1", "Deployment team/web"):
        bars = line(svg, each)
        assert all(begin < end <= WIDTH - MARGIN for _, begin, end in bars)
        assert all(before[2] == after[1] for before, after in pairwise(bars)), "a hole in the line"


def test_a_restarted_pod_ends_and_runs_again_by_the_latest_time() -> None:
    bars = line(drawn([driver("spec.version")], [SERVICE]), "Deployment team/web")
    assert [style for style, *_ in bars] == ["gap", "gap", "again"]


def test_times_of_a_change_that_goes_from_node_to_node() -> None:
    bound = replace(SERVICE, needs_pool=True)
    (pod,) = document(judge([driver("spec.version")], [bound], POOLS, NOW), CLUSTER)["work"]
    assert pod["endsMinutes"] == {"earliest": 0, "latest": 10}, "two nodes, ten minutes for the first at most"
    assert pod["runsAgainMinutes"] == {"earliest": 3, "latest": 20}


def test_what_a_bar_says_stands_above_it_in_words() -> None:
    bound = replace(SERVICE, needs_pool=True)
    titles = [each.text for each in drawn([driver("spec.version")], [bound, training()]).iter(f"{SVG}title")]
    assert "Deployment team/web: ends by minute 10, and runs again by minute 20; up to 6 GPU-hours lost" in titles
    assert "workflow train-1: runs on" in titles
    assert any(
        (each or "").startswith("2 × H100 of h100gpu: missing node by node, for 6 to 20 minutes") for each in titles
    )


def test_the_whole_headline_is_shown_and_no_text_leaves_the_picture() -> None:
    given = document(judge(CHANGES, [training(), SERVICE], POOLS, NOW), CLUSTER)
    svg = ET.fromstring(picture(given, "dev-westus2"))  # noqa: S314 - own
    texts = [each.text or "" for each in svg.iter(f"{SVG}text")]
    assert given["headline"] in " ".join(texts)
    assert max(map(len, texts)) <= 76


def test_more_owners_than_lines_are_counted() -> None:
    many = [training(owner=f"workflow w-{index}", gang="") for index in range(ROWS + 3)]
    text = picture(document(judge([pool("replace")], many, POOLS, NOW), CLUSTER), "dev")
    assert "and 3 more" in text
    assert len(re.findall("<title>workflow", text)) == ROWS


@pytest.mark.parametrize(
    ("file", "said"), [("a.png", "only SVG is drawn; write "), ("missing/a.svg", "a folder that exists")]
)
def test_a_file_that_cannot_be_written_names_one_that_can(tmp_path: Path, file: str, said: str) -> None:
    with pytest.raises(NoPicture, match=said):
        write_picture(document(judge(CHANGES, [], POOLS, NOW), CLUSTER), "dev", tmp_path / file)
