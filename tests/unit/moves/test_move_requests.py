"""What a command line may ask of a move, and the name of the new pool."""

from __future__ import annotations

import pytest

from tests.support.cases import in_one_test
from workbench.moves.request import Refused, merged, name_of_new, requested, values


def test_settings_are_those_of_stack_files() -> None:
    to = requested(["sku=Standard_NC80adis_H100_v5", "osDisk.sizeGb=1024", "zones=['1', '2']", "nodeImage=newest"])
    assert values(to, "h100gpub") == {
        "sku": "Standard_NC80adis_H100_v5",
        "osDisk": {"sizeGb": 1024},
        "zones": ["1", "2"],
    }
    assert values({"nodeImage": "newest"}, "h100gpub") == {}


@in_one_test(
    ("text", "problem"),
    [
        ("vmSize=Standard_NC80adis_H100_v5", "this setting is sku; write sku=Standard_NC80adis_H100_v5"),
        ("osDiskSizeGb=512", "write osDisk.sizeGb=512"),
        ("driverSource=aks", "write driver.source=aks"),
        ("nodeImage=AKSUbuntu-2404", "write nodeImage=newest"),
        ("scale.max=3", "keeps the nodes and their Pods; write it into the stack file"),
        ("labels={team: a}", "keeps the nodes and their Pods"),
        ("osdisk.sizeGb=3", "did you mean osDisk?"),
        ("colour=red", "settings of a pool: nodeImage, sku"),
        ("sku", "write a setting of the pool and its value"),
        ("sku= ", "write a setting of the pool and its value"),
        ("=x", "write a setting of the pool and its value"),
    ],
)
def test_what_a_move_does_not_change_is_refused_with_what_to_write(text: str, problem: str) -> None:
    with pytest.raises(Refused) as refused:
        requested(["zones=['1']", text])
    (said,) = refused.value.problems
    assert said.startswith(f"--to {text}")
    assert problem in said


@pytest.mark.parametrize(
    ("old", "taken", "removed", "name"),
    [
        ("h100gpu", [], [], "h100gpub"),
        ("h100gpu", ["h100gpub"], ["h100gpuc"], "h100gpud"),
        ("h100gpub", [], ["h100gpu"], "h100gpuc"),  # the second move, whose first one has left a null in the stack file
        ("h100gpub", [], [], "h100gpubb"),
        ("abcdefghijkl", [], [], "abcdefghijkb"),  # twelve letters: the last one gives way
        ("abcdefghijkb", ["abcdefghijkb"], [], "abcdefghijkc"),
    ],
)
def test_the_new_name_is_near_the_old_one_and_not_too_long(
    old: str, taken: list[str], removed: list[str], name: str
) -> None:
    assert name_of_new(old, [old, *taken], removed) == name


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        ("h100trainingb", "at most 12 letters for a Linux pool, and this has 13; shorten it, like h100training"),
        ("H100", "lowercase letters and digits"),
        ("1gpu", "beginning with a letter"),
        ("h100-b", "lowercase letters and digits"),
        ("", "lowercase letters and digits"),
        ("cpu", "has a node pool of this name"),
        ("a10gpu", "a layer describes a pool of this name"),
    ],
)
def test_a_name_that_azure_or_the_stack_cannot_take_is_refused(wanted: str, problem: str) -> None:
    with pytest.raises(Refused, match=problem):
        name_of_new("h100gpu", ["h100gpu", "cpu"], ["a10gpu"], wanted)


def test_a_null_removes_what_lies_below() -> None:
    assert merged({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": None}, "d": None, "e": 4}) == {"a": {"c": 2}, "e": 4}
