"""GPU-hours as a picture: bars that add up, names that fit, and files that can be written."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from physical_ai.telemetry.usage import Usage
from workbench.cli.output.usage_picture import LEFT, RIGHT, ROWS, WIDTH, NoPicture, picture, write_picture

SVG = "{http://www.w3.org/2000/svg}"


def used(workflow: str, held: float = 2.0, busy: float = 1.0, asked: float = 3.0, pool: str = "h100gpu") -> Usage:
    return Usage("osmo-workflows", workflow, "", "default", pool, asked, held, busy, 0.0, held * 7)


def bars(text: str) -> dict[str, list[float]]:
    """Widths of the parts of each bar."""
    found: dict[str, list[float]] = {}
    for element in ElementTree.fromstring(text):  # noqa: S314 - our own
        if element.get("text-anchor") == "end":
            found[element.findtext(f"{SVG}title", "")] = []
        elif element.tag == f"{SVG}rect" and element.find(f"{SVG}title") is not None:
            found[list(found)[-1]].append(float(element.get("width", "0")))
    return found


def test_the_parts_of_a_bar_are_what_was_used_held_and_waited_for() -> None:
    (widths,) = bars(picture([used("train", held=2, busy=1, asked=4)], "7d")).values()
    assert widths == pytest.approx([125, 125, 250], abs=0.2)
    assert widths[2] == pytest.approx(2 * widths[0], abs=0.2)
    assert sum(widths) <= WIDTH - LEFT - RIGHT + 0.2


def test_a_workflow_in_two_pools_has_one_bar_with_the_sum() -> None:
    text = picture([used("train"), used("train", pool="rtxprogpu")], "7d")
    assert list(bars(text)) == ["osmo-workflows/train"]
    assert "4.0 held, 28 USD" in text


def test_many_workflows_share_the_last_bar() -> None:
    text = picture([used(f"w{index}", held=index + 1) for index in range(ROWS + 5)], "4w")
    assert len(bars(text)) == ROWS
    assert "6 others" in text


def test_nothing_used_is_said() -> None:
    assert "no GPU-hours are recorded in the last 12h" in picture([], "12h")


def test_names_are_text_and_fit() -> None:
    name = "<script>" + "x" * 80
    text = picture([used(name)], "7d")
    assert "<script>" not in text
    assert list(bars(text)) == [f"osmo-workflows/{name}"]
    assert max(map(len, re.findall(r'text-anchor="end">([^<]*)<', text))) < 60


def test_a_picture_follows_the_theme(tmp_path: Path) -> None:
    write_picture([used("train")], "7d", tmp_path / "usage.svg")
    assert "prefers-color-scheme:dark" in (tmp_path / "usage.svg").read_text()


@pytest.mark.parametrize(
    ("name", "problem"), [("usage.png", "usage.svg"), ("nosuch/usage.svg", "a folder that exists")]
)
def test_a_file_that_cannot_be_written_is_explained(name: str, problem: str, tmp_path: Path) -> None:
    with pytest.raises(NoPicture, match=problem):
        write_picture([used("train")], "7d", tmp_path / name)
