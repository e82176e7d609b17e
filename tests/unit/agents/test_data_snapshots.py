"""The program that takes snapshots of volumes, against an API server with faults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from data_snapshots import __main__ as program
from data_snapshots.snapshots import SERVICE, Failed, Wanted, take
from json_http import Refused

PATH = "/apis/snapshot.storage.k8s.io/v1/namespaces/osmo-control-plane/volumesnapshots"
CLAIMS = {"osmo-postgres": "osmo-postgres", "osmo-storage": "osmo-storage"}
WANTED = Wanted("osmo-control-plane", "physical-ai-data", 2, CLAIMS)


def snapshot(name: str, *, complete: bool = True, label: bool = True) -> dict[str, Any]:
    service = name.rsplit("-", 2)[0]
    labels = {SERVICE: service} if label else {}
    return {"metadata": {"name": name, "labels": labels}, "status": {"readyToUse": complete}}


@dataclass
class World:
    """`slow`: how often a snapshot is looked at before it is complete; `broken`: services whose never is."""

    held: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    slow: int = 0
    broken: frozenset[str] = frozenset()
    asked: list[str] = field(default_factory=list[str])
    said: list[str] = field(default_factory=list[str])
    refusals: dict[str, int] = field(default_factory=dict[str, int])

    def request(self, method: str, path: str, body: Any = None) -> Any:
        self.asked.append(f"{method} {path.removeprefix(PATH)}")
        if code := self.refusals.get(method):
            raise Refused(method, code, "no")
        name = path.removeprefix(PATH).lstrip("/")
        if method == "POST":
            name = body["metadata"]["name"]
            if name in self.held:
                raise Refused(method, 409, "already exists")
            self.held[name] = {**body, "status": {"readyToUse": False}}
            return None
        if method == "DELETE":
            del self.held[name]
            return None
        if not name:
            return {"items": list(self.held.values())}
        found = self.held[name]
        if name.rsplit("-", 2)[0] in self.broken:
            found["status"] = {"readyToUse": False, "error": {"message": "the disk is gone"}}
        elif self.slow <= self.asked.count(f"GET /{name}"):
            found["status"] = {"readyToUse": True}
        return found


def run(world: World, moment: str = "20261123-0217", seconds: float = 60) -> None:
    take(world, WANTED, moment, seconds=seconds, pause=lambda _: None, say=world.said.append)


def test_each_volume_gets_a_snapshot_and_the_database_is_complete_before_the_storage_begins() -> None:
    world = World(slow=3)
    run(world)
    made = world.held["osmo-postgres-20261123-0217"]
    assert made["spec"] == {
        "volumeSnapshotClassName": "physical-ai-data",
        "source": {"persistentVolumeClaimName": "osmo-postgres"},
    }
    posts = [index for index, each in enumerate(world.asked) if each.startswith("POST")]
    assert world.asked[posts[0] + 1 : posts[1]] == ["GET /osmo-postgres-20261123-0217"] * 3


def test_old_ones_are_deleted_and_the_newest_and_those_of_others_stay() -> None:
    names = ["osmo-postgres-20261120-0217", "osmo-postgres-20261121-0217", "osmo-postgres-20261122-0217"]
    world = World({name: snapshot(name) for name in names})
    foreign = "osmo-postgres-20200101-0000"
    world.held[foreign] = snapshot(foreign, label=False)
    run(world)
    left = {name for name in world.held if name.startswith("osmo-postgres")}
    assert left == {"osmo-postgres-20261122-0217", "osmo-postgres-20261123-0217", foreign}


def test_one_that_never_became_complete_is_deleted_and_does_not_count() -> None:
    names = ["osmo-postgres-20261121-0217", "osmo-postgres-20261122-0217"]
    world = World({name: snapshot(name, complete=name == names[0]) for name in names})
    run(world)
    left = {name for name in world.held if name.startswith("osmo-postgres")}
    assert left == {"osmo-postgres-20261121-0217", "osmo-postgres-20261123-0217"}


def test_nothing_is_deleted_while_a_new_one_is_not_complete() -> None:
    names = [f"osmo-postgres-202611{day}-0217" for day in (18, 19, 20, 21)]
    world = World({name: snapshot(name) for name in names}, broken=frozenset({"osmo-storage"}))
    with pytest.raises(Failed, match=r"osmo-storage-20261123-0217: the disk is gone\. No snapshot was deleted"):
        run(world, seconds=0)
    assert set(names) <= set(world.held)
    assert not [each for each in world.asked if each.startswith("DELETE")]


def test_a_run_of_the_same_minute_that_was_killed_is_continued() -> None:
    world = World({"osmo-postgres-20261123-0217": snapshot("osmo-postgres-20261123-0217", complete=False)})
    run(world)
    assert "osmo-postgres-20261123-0217 is complete" in world.said


@pytest.mark.parametrize(("method", "code"), [("POST", 403), ("GET", 500)])
def test_a_refusal_is_the_programs_failure(method: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--namespace=osmo-control-plane", "--class=c", "--keep=2", "--volume=osmo-cache=osmo-cache"]
    assert program.main(arguments, World(refusals={method: code}), lambda _: None) == 1
    assert str(code) in capsys.readouterr().err
    assert program.main(arguments, World(), lambda _: None) == 0
