"""The diagrams of the pages: each has a title and a description, and those from data are current and complete."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from docs.generator.pictures.delivery import IDENTITIES
from docs.generator.pictures.driver_upgrade import SITUATIONS, driver_upgrade
from docs.generator.pictures.layers import layers
from docs.generator.pictures.mermaid import box, diagram
from docs.generator.pictures.registry import PAGES, PICTURES, drawn
from docs.generator.pictures.repair import WRITES
from docs.generator.pictures.stages import PARTS_OF_GATES, PARTS_OF_STAGES
from physical_ai.readiness.model import GATES
from physical_ai.readiness.workloads.model import STAGES
from physical_ai.repository import DOCS
from physical_ai.settings.models.osmo_access import GatewayTls
from simulator.gpu import upgrade_states
from tests.support.cases import in_one_test
from tests.support.documentation import Block, name, pages, parts
from workbench.health.replacement.record import RepairStep

DIAGRAMS = [(page, block) for page in pages() for block in parts(page)[1] if block.info == "mermaid"]


@in_one_test(("page", "block"), DIAGRAMS, ids=lambda each: name(each) if isinstance(each, Path) else str(each.line))
def test_each_diagram_has_a_title_and_a_description(page: Path, block: Block) -> None:
    assert re.search(r"^ *accTitle: \S", block.text, re.MULTILINE), name(page)
    assert re.search(r"^ *accDescr: \S", block.text, re.MULTILINE), name(page)
    assert not re.search(r"#[0-9a-f]{3,6}\b|fill:|color:", block.text), (
        "colours of one theme are unreadable in the other"
    )


def test_every_picture_is_on_a_page_and_every_page_has_its_marks() -> None:
    marks = [mark for page in PAGES for mark in re.findall(r"<!-- picture ([\w-]+):", page.read_text(encoding="utf-8"))]
    assert sorted(marks) == sorted(PICTURES)


def test_a_mark_of_no_picture_is_an_error() -> None:
    with pytest.raises(KeyError):
        drawn("<!-- picture none: python -m docs.generator -->\n<!-- end -->")


def test_text_of_a_box_has_no_meaning_in_the_notation() -> None:
    text = 'a `code` with "quotes" and <angles>'
    assert box("a-b", text, "", "two") == "a_b[\"a code with 'quotes' and ‹angles›<br>two\"]"
    assert diagram("flowchart TD", "T", "a\n  b", []).splitlines()[2] == "    accDescr: a b"


def test_the_layers_show_the_files_of_the_stack_and_the_value_in_effect() -> None:
    text = layers()
    assert [label for label in ("base.yaml", "env/prod.yaml", "Pulumi.prod-westus2.yaml") if label not in text] == []
    assert "pools.h100gpu.scale.max: 8" in text
    assert text.count(":::strong") == 3


def test_all_gates_stages_and_steps_are_drawn() -> None:
    assert [gate for found in PARTS_OF_GATES.values() for gate in found] == list(GATES)
    assert [stage for found in PARTS_OF_STAGES.values() for stage in found] == list(STAGES)
    assert set(WRITES) == set(RepairStep) - {RepairStep.DONE}


def test_the_driver_upgrade_has_every_state_and_ends() -> None:
    states = {
        value
        for key, value in vars(upgrade_states).items()
        if key.isupper() and str(value).endswith(("-required", "-done", "-failed"))
    }
    assert {each.state for each in SITUATIONS} == states
    assert "pod_restart_required --> validation_required: the driver runs" in driver_upgrade()
    assert {each.next_state() for each in SITUATIONS} == states


def test_the_delivery_has_both_jobs_in_order() -> None:
    text = PICTURES["delivery"]()
    assert "preview_login --> preview0 --> preview1" in text
    assert "merged --> job_preview --> reviewers --> job_up" in text
    assert list(IDENTITIES) == ["preview", "up"]


def test_bars_show_the_measured_minutes_and_what_a_range_adds() -> None:
    text = PICTURES["alert-times"]()
    assert "GPURowRemapPending :0, 3636000" in text
    assert re.findall(r"(\w+) :crit", text) == ["GPUCorrectableECCRate", "GPUPowerCapped"]


def test_the_certificate_tree_has_every_source() -> None:
    [tree] = [block.text for block in parts(DOCS / "osmo.md")[1] if "certificate has" in block.text]
    sources = set(re.findall(r"<b>(\w+)</b>", tree))
    assert sources == set(get_args(GatewayTls.model_fields["source"].annotation))
