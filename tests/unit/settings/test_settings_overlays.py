"""Overlays, assignments, and the file or layer that each value is explained by."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from physical_ai.settings import Overlay, SettingsError, load
from physical_ai.settings.layers.paths import parse, show
from tests.support.cases import in_one_test
from tests.support.origins import origins


def test_null_removes_what_a_lower_layer_set() -> None:
    fixed = Overlay.assign(["pools.h100gpu.scale={count: 3, min: null, max: null, initial: null}", "tags.project=null"])
    settings = load("dev-westus2", [fixed]).settings
    assert settings.pools["h100gpu"].scale.count == 3
    assert "project" not in settings.tags


def test_overlays_lie_above_the_stack_file_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("pools: {h100gpu: {scale: {max: 5}}}\nprotect: true\n")
    overlays = [Overlay.read(tmp_path / "mine.yaml"), Overlay.assign(["pools.h100gpu.scale.max=7"])]
    loaded = load("dev-westus2", overlays)
    assert loaded.settings.pools["h100gpu"].scale.max == 7
    assert origins(loaded)["protect"] == str(tmp_path / "mine.yaml")
    assert origins(loaded)["pools.h100gpu.scale.max"] == "--set"


def test_assignments_take_yaml_and_text_where_text_is_meant() -> None:
    overlay = Overlay.assign(
        [
            "cluster.kubernetesVersion=1.35",
            'tags["cost.center"]=4711',
            'tags["a=b"]=x=y',
            "systemPool.zones=['1', '2']",
            "protect=true",
            "protect=false",
        ]
    )
    assert overlay.data == {
        "cluster": {"kubernetesVersion": "1.35"},
        "tags": {"cost.center": "4711", "a=b": "x=y"},
        "systemPool": {"zones": ["1", "2"]},
        "protect": False,
    }


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("protect", "protect"),
        ("=3", "=3"),
        ("systemPool.zones[0]='1'", "systemPool.zones[0]"),
        ("pools..sku=3", "pools..sku"),
        ("tags={a: [}", "tags"),
    ],
)
def test_a_broken_assignment_is_reported(text: str, path: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Overlay.assign([text])
    (fault,) = caught.value.faults
    assert (fault.file, fault.where) == ("--set", path)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("pools.h100gpu.zones=[1", """like --set 'pools.h100gpu.zones=["1"]'"""),
        ("pools.h100gpu.scale={min: 1", "like --set 'pools.h100gpu.scale={min: 0, max: 2}'"),
        ("pools.h100gpu.zones[0]=1", """Set the list: --set 'pools.h100gpu.zones=["1"]'"""),
        ("pools[h100gpu].sku=x", "write pools.h100gpu.sku"),
        ("pools..sku=x", "Write it like pools.h100gpu.scale.max"),
        ("protect", "Like pools.h100gpu.scale.max=3"),
    ],
)
def test_a_broken_assignment_is_told_with_what_to_write(text: str, fix: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Overlay.assign([text])
    assert fix in (caught.value.faults[0].fix or "")


def test_a_missing_file_is_told_with_a_file_of_a_like_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.yaml").touch()
    monkeypatch.chdir(tmp_path)
    for name, fix in (("mien.yaml", "Did you mean 'mine.yaml'?"), ("x.yaml", f"Relative paths begin at {tmp_path}.")):
        with pytest.raises(SettingsError) as caught:
            Overlay.read(name)
        assert fix in (caught.value.faults[0].fix or "")
    with pytest.raises(SettingsError, match="in the form of a layer"):
        Overlay.read(".")


def test_explain_names_the_layer_of_each_value() -> None:
    loaded = load("prod-southeastasia")
    rows = {row.path: (row.value, row.origin) for row in loaded.explain()}
    assert rows["region"] == ("southeastasia", "stack name")
    assert rows["protect"] == (True, "stacks/layers/env/prod.yaml")
    assert rows["pools.h100gpu.sku"] == ("Standard_NC40ads_H100_v5", "stacks/layers/target/azure.yaml")
    assert rows["pools.h100gpu.scale.count"] == (2, "stacks/Pulumi.prod-southeastasia.yaml")
    assert rows["cluster.upgrades.nodeOsWindow.utcOffset"] == ("+08:00", "stacks/layers/region/southeastasia.yaml")
    assert rows["pools.h100gpu.maxPods"] == (110, "default")
    assert set(rows) == set(origins(loaded))


def test_explain_narrows_to_a_path_and_corrects_a_wrong_one() -> None:
    loaded = load("dev-westus2")
    assert [row.path for row in loaded.explain("pools.rtxprogpu.scale")] == [
        f"pools.rtxprogpu.scale.{key}" for key in ("count", "min", "max", "initial")
    ]
    assert loaded.explain("physical-ai:protect")[0].value is False
    with pytest.raises(SettingsError, match=r"Did you mean 'pools\.rtxprogpu\.scale'"):
        loaded.explain("pools.rtxprogpu.scal")
    with pytest.raises(SettingsError, match="is not a path"):
        loaded.explain("pools..x")


@pytest.mark.parametrize("path", [("a", "b", 3), ("tags", "a.b/c"), ("x", 'q"uo\\te', 0, "y")])
def test_paths_read_back_as_written(path: tuple[str | int, ...]) -> None:
    assert parse(show(path)) == path


@in_one_test(
    ("path", "fix"),
    [
        ("pools.nosuch", "In 'pools': h100gpu, rtxprogpu."),
        ("pools.h10gpu.sku", "Did you mean 'pools.h100gpu.sku'?"),
        ("pools.h100gpu.scal.nosuch", "Did you mean 'pools.h100gpu.scale'?"),
        ("pool.h100gpu.sku", "Did you mean 'pools.h100gpu.sku'?"),
        ("protect.x", "'protect' is a single value: physai explain dev-westus2 protect"),
        (
            "pools.h100gpu.zones[0]",
            "'pools.h100gpu.zones' is a list, shown as a whole: physai explain dev-westus2 pools.h100gpu.zones",
        ),
        ("h100gpu", "Did you mean 'pools.h100gpu'?"),
        ("h100gpu.sku", "Did you mean 'pools.h100gpu.sku'?"),
        ("pools/h100gpu", "Did you mean 'pools.h100gpu'?"),
        ("kubernetesVersion", "Did you mean 'cluster.kubernetesVersion'?"),
        ("osDisk", "It is at systemPool.osDisk, cpuPool.osDisk, pools.h100gpu.osDisk, pools.rtxprogpu.osDisk."),
    ],
)
def test_a_suggestion_is_in_the_same_branch_of_the_tree(path: str, fix: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load("dev-westus2").explain(path)
    assert caught.value.faults[0].fix == fix


def test_without_a_suggestion_the_sections_are_listed() -> None:
    with pytest.raises(SettingsError, match=r"Sections: .*pools\.  All settings: physai explain dev-westus2"):
        load("dev-westus2").explain("nothing-like-it")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tags: &a {x: y}\nother: *a\n", "Anchors"),
        ("tags:\n  <<: {x: y}\n", "Merge keys"),
        ("tags: !secret x\n", "tag '!secret'"),
        ("pools: {h100gpu: !!python/object:os.system {}}\n", "tag 'python/object:os.system'"),
        ("pools: {h100gpu: !foo {}}\n", "tag '!foo'"),
        ("systemPool: {zones: !foo []}\n", "tag '!foo'"),
        ("tags: !!omap [a: b]\n", "tag 'omap'"),
        ("tags: {!foo a: b}\n", "tag '!foo'"),
        ("tags: {a: !!int '5'}\n", "tag 'int'"),
        ("tags:\n  1: x\n", "The key 1 is not text"),
        ("- a\n- b\n", "must hold a mapping"),
        ("tags: {a: 'unclosed}\n", "not YAML"),
        ('tags: {a: "\\ud800"}\n', "not"),
        ("[" * 5000, "not YAML|nested too deeply"),
        ("tags: " + "{a: " * 50 + "1" + "}" * 50, "nested too deeply"),
    ],
)
def test_yaml_that_reads_differently_elsewhere_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "over.yaml").write_text(text)
    with pytest.raises(SettingsError) as caught:
        Overlay.read(tmp_path / "over.yaml")
    assert re.search(problem, caught.value.faults[0].problem)
    assert caught.value.faults[0].file.endswith("over.yaml")


def test_texts_and_times_are_not_parsed_as_booleans_and_numbers(tmp_path: Path) -> None:
    (tmp_path / "over.yaml").write_text("tags: {a: yes, b: 12:30, c: 2026-01-01, d: 0x10, e: '1'}\n")
    assert Overlay.read(tmp_path / "over.yaml").data["tags"] == {
        "a": "yes",
        "b": "12:30",
        "c": "2026-01-01",
        "d": "0x10",
        "e": "1",
    }


def test_a_file_that_is_missing_or_not_text_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    for name, problem in (("absent.yaml", "does not exist"), ("binary.yaml", "not UTF-8"), (".", "not a regular file")):
        with pytest.raises(SettingsError, match=problem):
            Overlay.read(tmp_path / name)
