"""Settings files under the names of another version."""

from __future__ import annotations

from tests.support.releases import release, v
from workbench.upgrade.rewriting import Rewrite, rewritten

NOTES = (
    release(
        "0.2.0",
        renamed=(
            {"from": "pools.*.size", "to": "pools.*.sku", "until": "0.4.0"},
            {
                "from": "cluster.idleMinutes",
                "to": "cluster.autoscaler.idleSeconds",
                "until": "0.4.0",
                "times": 60,
            },
        ),
    ),
    release(
        "0.3.0",
        renamed=({"from": "pools.*.sku", "to": "pools.*.vmSize", "until": "0.5.0"},),
        removed=(
            {"path": "cluster.speed", "instead": "It had no effect.", "cut": True},
            {"path": "cluster.colour", "instead": "Write tags.colour."},
        ),
    ),
)
LAYER, STACK = "stacks/layers/base.yaml", "stacks/Pulumi.dev-westus2.yaml"


def test_each_release_on_the_way_rewrites_a_layer_and_keeps_its_comments() -> None:
    text = "# ours\npools:\n  a: {size: s}  # one\ncluster:\n  # long\n  idleMinutes: 5  # minutes\n  speed: 1\n"
    found = rewritten({LAYER: text}, NOTES, v("0.3.0"))
    assert found.texts == {
        LAYER: "# ours\npools:\n  a: {vmSize: s}  # one\ncluster:\n  autoscaler:\n    # long\n"
        "    idleSeconds: 300  # minutes\n"
    }
    assert found.blocked == []
    assert found.rewrites == [
        Rewrite(LAYER, 3, "pools.a.size", "pools.a.sku", "0.2.0"),
        Rewrite(LAYER, 6, "cluster.idleMinutes", "cluster.autoscaler.idleSeconds", "0.2.0", "5 becomes 300"),
        Rewrite(LAYER, 3, "pools.a.sku", "pools.a.vmSize", "0.3.0"),
        Rewrite(LAYER, 7, "cluster.speed", None, "0.3.0", "It had no effect."),
    ]


def test_a_stack_file_has_its_prefix() -> None:
    text = (
        "config:\n  other:key: 1\n  physical-ai:cluster: {idleMinutes: 5}\n"
        '  "physical-ai:pools":\n    a:\n      size: s\n'
    )
    found = rewritten({STACK: text}, NOTES[:1], v("0.2.0"))
    assert found.texts == {
        STACK: 'config:\n  other:key: 1\n  "physical-ai:pools":\n    a:\n      sku: s\n  physical-ai:cluster:\n'
        "    autoscaler:\n      idleSeconds: 300\n"
    }
    assert {each.new for each in found.rewrites} == {
        "physical-ai:pools.a.sku",
        "physical-ai:cluster.autoscaler.idleSeconds",
    }


def test_a_removed_setting_with_an_effect_stops_the_upgrade() -> None:
    found = rewritten({LAYER: "cluster:\n  colour: red\n"}, NOTES, v("0.3.0"))
    assert found.texts == {}
    (blocked,) = found.blocked
    assert blocked.stops
    assert str(blocked) == (
        f"{LAYER}:2: cluster.colour\n  Version 0.3.0 has no setting 'cluster.colour'.\n"
        "  Write tags.colour. Then commit the file."
    )


def test_both_names_in_a_file_stop_only_where_the_old_one_is_not_read() -> None:
    text = "pools: {a: {size: s, sku: t}}\n"
    (before,) = rewritten({LAYER: text}, NOTES[:1], v("0.3.0")).blocked
    (after,) = rewritten({LAYER: text}, NOTES[:1], v("0.4.0")).blocked
    assert (before.stops, after.stops) == (False, True)
    assert "calls it pools.a.sku, which the file has, too" in str(after)


def test_files_without_old_names_and_files_that_are_not_yaml_stay() -> None:
    files = {LAYER: "pools: {a: {other: 1}}\n", "stacks/layers/env/dev.yaml": "a: [\n", STACK: "config: {}\n"}
    found = rewritten(files, NOTES, v("0.3.0"))
    assert (found.texts, found.rewrites, found.blocked) == ({}, [], [])
