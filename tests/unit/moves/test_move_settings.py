"""Settings of a stack at each stage of a move: as a layer, in the text of the stack file, and their judgement."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parts.slurm.names import TAINT
from physical_ai.settings import Loaded, Settings, SettingsError, load
from physical_ai.settings.facts.osmo import base_names
from physical_ai.settings.layers.document import read_document
from physical_ai.settings.layers.names import STACKS
from workbench.cli.move_plan import STATES
from workbench.moves.layers import Move, State, layer, platforms_in, pools_in
from workbench.moves.needs import extra_quota
from workbench.moves.planning import Wish, notes_of, other_change, overlay, own_values, planned, problems_of
from workbench.moves.request import Refused
from workbench.moves.stack_file import rewritten
from workbench.upgrade.yaml_text import NotEditable

STACK = "dev-westus2"
TO = {"osDisk.sizeGb": "1024"}
DISK = Wish("h100gpu", TO)


def move_of(stack: str = STACK, wish: Wish = DISK) -> tuple[Loaded, Move]:
    loaded = load(stack)
    return loaded, planned(loaded, wish)


def at(stack: str, move: Move, state: State, cap: int | None = 2) -> Loaded:
    found = layer(move, state, cap)
    return load(stack, [overlay(found)] if found else [])


@pytest.mark.parametrize("stack", ["dev-westus2", "prod-westus2", "quickstart-westus2"])
def test_every_stage_is_a_valid_stack_and_workflows_keep_their_platform(stack: str) -> None:
    loaded, move = move_of(stack)
    before = base_names(loaded.settings)
    for state in STATES:
        settings = at(stack, move, state).settings
        there, gone = pools_in(move, state)
        assert there <= set(settings.pools), state
        assert not gone & set(settings.pools), state
        names = {name: pool for pool, name in base_names(settings).items()}
        expected = {name: pool for pool, name in before.items()} | platforms_in(move, state)
        assert names.items() >= expected.items(), state
    moved = at(stack, move, "moved").settings
    old, new = loaded.settings.pools["h100gpu"], moved.pools[move.new]
    assert new.os_disk.size_gb == 1024
    assert new.scale == old.scale
    assert {key for key, value in new.model_dump().items() if value != old.model_dump()[key]} == {
        "os_disk",
        "azure_subnet",
    }


def test_the_second_pool_has_a_node_for_its_proof_and_a_subnet_of_its_own() -> None:
    loaded, move = move_of()
    both = at(STACK, move, "both").settings
    assert loaded.settings.pools["h100gpu"].scale.min == 0
    assert both.pools[move.new].scale.initial_count == 1
    subnets = [each.subnet for each in both.pools.values()]
    assert not any(one.overlaps(other) for one in subnets for other in subnets if one is not other)


def test_the_old_pool_gets_no_more_nodes_once_work_goes_elsewhere() -> None:
    _, move = move_of()
    assert at(STACK, move, "switched", 1).settings.pools["h100gpu"].scale.most == 1
    assert at(STACK, move, "switched", None).settings.pools["h100gpu"].scale.most == 2
    assert at(STACK, move, "both", 1).settings.pools["h100gpu"].scale.most == 2


@pytest.mark.parametrize("stack", ["dev-westus2", "prod-westus2", "quickstart-westus2", "prod-swedencentral"])
def test_the_stack_file_gets_the_same_settings_and_on_the_way_back_its_own_text(
    stack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded, move = move_of(stack)
    original = (STACKS / f"Pulumi.{stack}.yaml").read_text()
    own = own_values(loaded, "h100gpu")

    def through(*states: State) -> str:
        text = original
        for state in states:
            text = rewritten(text, move, own, state, 2)
            assert rewritten(text, move, own, state, 2) == text, "a second time changes nothing"
            written = _load_text(stack, text, monkeypatch)
            assert written.settings == at(stack, move, state).settings, state
            assert not other_change(written, move, state, 2)
        return text

    assert through("both", "switched", "both", "original") == original
    # Comments within the removed pool are gone with it.
    assert read_document(through("switched", "moved", "both", "original"), "").data == read_document(original, "").data


def _load_text(stack: str, text: str, monkeypatch: pytest.MonkeyPatch) -> Loaded:
    from physical_ai.settings.layers import stack_file

    real = stack_file.read_file

    def read(file: Path, label: str) -> Any:
        return read_document(text, label) if file.name == f"Pulumi.{stack}.yaml" else real(file, label)

    monkeypatch.setattr(stack_file, "read_file", read)
    try:
        return load(stack)
    finally:
        monkeypatch.undo()


def test_a_pool_that_only_the_stack_file_describes_is_cut_out_and_put_back() -> None:
    loaded, move = move_of("prod-westus2")
    own = {"pools": {"h100gpu": dict(loaded.merged.data["pools"]["h100gpu"])}}
    alone = replace(move, below=False)
    text = "config:\n  physical-ai:pools:\n    h100gpu:\n      sku: A\n    rtxprogpu:\n      sku: B\n"
    gone = rewritten(text, alone, own, "moved", None)
    assert "h100gpu" not in read_document(gone, "").data["config"]["physical-ai:pools"]
    back = rewritten(gone, alone, own, "original", None)
    assert read_document(back, "").data["config"]["physical-ai:pools"]["h100gpu"] == own["pools"]["h100gpu"]


def test_a_layout_that_is_not_known_is_left_to_a_person() -> None:
    loaded, move = move_of()
    text = "config: {physical-ai:pools: {rtxprogpu: {subnet: 10.41.2.0/26}}}  # one line\n"
    with pytest.raises(NotEditable):
        rewritten(f"{text}", move, own_values(loaded, "h100gpu"), "both", None)


@pytest.mark.parametrize(
    ("stack", "pool", "problem"),
    [
        (STACK, "h100", "dev-westus2 has no pool 'h100'; its GPU pools: h100gpu, rtxprogpu"),
        (STACK, "cpu", "cpu has no GPUs"),
        ("onprem-lab", "h100gpu", "is installed in a cluster that exists"),
        ("seed-westus2", "h100gpu", "records the past"),
    ],
)
def test_a_pool_that_cannot_move_is_refused(stack: str, pool: str, problem: str) -> None:
    with pytest.raises(Refused, match=problem):
        planned(load(stack), Wish(pool, TO))


def test_no_free_addresses_for_the_second_pool_is_refused() -> None:
    tight = {"network": {"addressSpace": "10.41.0.0/23", "systemSubnet": "10.41.0.0/24"}}
    pools = {"pools": {"h100gpu": {"subnet": "10.41.1.0/25"}, "rtxprogpu": {"subnet": "10.41.1.128/25"}}}
    loaded = load(STACK, [overlay({**tight, **pools})])
    with pytest.raises(Refused, match=r"no /25 is free in network.addressSpace 10.41.0.0/23"):
        planned(loaded, DISK)


def test_the_same_value_needs_no_move_but_the_newest_image_does() -> None:
    for to, refused in (({"osDisk.sizeGb": "512"}, True), ({"nodeImage": "newest"}, False), (TO, False)):
        _, move = move_of(wish=Wish("h100gpu", to))
        settings: dict[State, Settings] = {state: at(STACK, move, state).settings for state in STATES}
        assert bool(problems_of(move, settings)) is refused, to


def test_a_setting_that_is_wrong_is_named_with_its_place() -> None:
    for to in ({"sku": "Standard_NC40ads_H100_v6"}, {"osDisk.sizeGb": "much"}):
        _, move = move_of(wish=Wish("h100gpu", to))
        with pytest.raises(SettingsError, match=f"pools.h100gpub.{next(iter(to))}"):
            at(STACK, move, "both")


def test_another_driver_source_does_not_keep_the_version_of_the_former() -> None:
    loaded = load(STACK, [overlay({"pools": {"h100gpu": {"driver": {"version": "580.173.02"}}}})])
    move = planned(loaded, Wish("h100gpu", {"driver.source": "aks"}))
    assert move.pool["driver"] == {"source": "aks"}


def test_a_pool_that_another_setting_names_is_not_moved_from_under_it() -> None:
    fixed = {"count": 2, "min": None, "max": None, "initial": None}
    data = {"slurm": {"pools": ["h100gpu"]}, "pools": {"h100gpu": {"scale": fixed, "taints": [TAINT]}}}
    move = planned(load(STACK, [overlay(data)]), DISK)
    assert move.beside == {"count": 2}
    for state in ("both", "moved"):
        with pytest.raises(SettingsError, match=r"slurm\.pools"):
            load(STACK, [overlay(data), overlay(layer(move, state, None))])


def test_smaller_nodes_and_a_protected_stack_are_notes() -> None:
    loaded = load("prod-westus2", [overlay({"pools": {"h100gpu": {"sku": "Standard_NC80adis_H100_v5"}}})])
    move = planned(loaded, Wish("h100gpu", {"sku": "Standard_NC40ads_H100_v5"}))
    data = {"pools": {"h100gpu": {"sku": "Standard_NC80adis_H100_v5"}}}
    settings: dict[State, Settings] = {"original": loaded.settings}
    settings["both"] = load("prod-westus2", [overlay(data), overlay(layer(move, "both", None))]).settings
    notes = " ".join(notes_of(move, settings))
    assert "has 1 GPUs, and one of h100gpu has 2" in notes
    assert "protect: true" in notes


def test_quota_is_that_of_the_second_pool_alone() -> None:
    loaded, move = move_of("prod-westus2")
    needs = {
        each.usage: (each.initial, each.maximum)
        for each in extra_quota(move, loaded.settings, at("prod-westus2", move, "both").settings)
    }
    pool = loaded.settings.pools["h100gpu"]
    assert needs["StandardNCadsH100v5Family"] == (40 * (pool.scale.min or 0), 40 * pool.scale.most)


def test_another_change_of_the_pools_is_found() -> None:
    loaded, move = move_of()
    assert not other_change(loaded, move, "original", None)
    changed = load(STACK, [overlay({"pools": {"h100gpu": {"scale": {"max": 3}, "labels": {"team": "a"}}}})])
    assert other_change(changed, move, "original", None) == [
        "pools.h100gpu.scale.max is 3, and was 2 when the move began",
        "pools.h100gpu.labels is {'team': 'a'}, and was absent when the move began",
    ]
    other = load(STACK, [overlay({"pools": {"rtxprogpu": {"scale": {"max": 3}}}})])
    assert not other_change(other, move, "original", None)
