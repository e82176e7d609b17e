"""`physai first` on subscriptions that lack something, with the real `physai check` over HTTP against a simulated
Azure: it stops at the right stage with advice, and goes on once the cause is gone. Other commands
are answered.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from physical_ai.repository import HOME_VARIABLE
from simulator.azure.restrictions import Denial
from tests.support.arm_web import SUBSCRIPTION, World, world
from tests.unit.cli.test_cli_commands import call
from tests.unit.cli.test_cli_first import FIGURES, GOOD, Commands
from workbench.cli import azure_login, first_contact, policy_pack
from workbench.cli.commands import check as check_command
from workbench.cli.first_contact import Folder
from workbench.first_contact.judging import Answer
from workbench.first_contact.stages import stages

STACK = "quickstart-westus2"
NAMES = [each.name for each in stages()]
BEFORE = NAMES[: NAMES.index("preview")]
NO_ADDRESSES = Denial("no-public-addresses", "Microsoft.Network/publicIPAddresses", "location", (None,), allows=True)


@pytest.fixture
def azure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A subscription that lacks nothing, to which `physai check` is logged in as its owner."""
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    monkeypatch.setenv(azure_login.SUBSCRIPTION_VARIABLE, SUBSCRIPTION)
    monkeypatch.setattr(check_command.shutil, "which", lambda name: f"/usr/bin/{name}")  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]  # a name
    monkeypatch.setattr(first_contact, "figures", lambda requested: FIGURES)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]  # whatever is asked
    monkeypatch.setattr(policy_pack, "declared_resources", declared)
    with world(tmp_path) as found:
        monkeypatch.setattr(azure_login, "_login", found.get)
        monkeypatch.setattr(azure_login, "_exchange", found.exchange)
        yield found


_run_program = policy_pack.declared_resources


@functools.cache
def _declared(stack: str) -> object:
    from workbench.cli.requested_stack import read_stack

    return _run_program(read_stack(stack), preview=False, subscription=SUBSCRIPTION)


def declared(requested: object, **_: object) -> object:
    """The declared resources of the stack: the program runs once for all checks."""
    return _declared(STACK)


@pytest.fixture
def commands(azure: World, monkeypatch: pytest.MonkeyPatch) -> Commands:
    made = Commands()

    def check(words: Sequence[str]) -> Answer:
        code, out, _ = call(*words[1:])
        return Answer(code, out)

    made.check = check
    monkeypatch.setattr(first_contact, "run", made)
    return made


def first(*arguments: str, expect: int = 0) -> str:
    code, out, err = call("first", STACK, "--yes", *arguments)
    assert code == expect, out + err
    return " ".join((out + err).split())


def states() -> dict[str, str]:
    document = json.loads(Folder.of(STACK, simulated=False).state.read_text())
    return {name: each["state"] for name, each in document["entries"].items()}


def unused(azure: World) -> None:
    azure.web.questions.cloud.restrictions.registered = ("Microsoft.Resources", "Microsoft.Authorization")


def denied(azure: World) -> None:
    azure.web.questions.cloud.restrictions.denials = (NO_ADDRESSES,)


def no_gpus(azure: World) -> None:
    azure.web.questions.cloud._quota.update({"lowPriorityCores": 0})  # pyright: ignore[reportPrivateUsage] - a subscription's own


def mended(azure: World) -> None:
    restrictions = azure.web.questions.cloud.restrictions
    restrictions.registered, restrictions.denials = None, ()
    azure.web.questions.cloud._quota.clear()  # pyright: ignore[reportPrivateUsage] - as above


DEEP = pytest.mark.deep
"""In `make test`: the denial by a landing zone in test_cli_first.py, and one interruption for all of them."""


@pytest.mark.parametrize(
    ("lacks", "stage", "advice"),
    [
        pytest.param(unused, "providers", "az provider register --namespace Microsoft.ContainerService", id="unused"),
        pytest.param(denied, "verdict", "no-public-addresses", id="landing-zone", marks=DEEP),
        pytest.param(no_gpus, "quota", "lowPriorityCores", id="no-gpu-quota"),
    ],
)
def test_it_stops_where_something_is_missing_and_goes_on_once_it_is_there(
    commands: Commands, azure: World, lacks: Callable[[World], None], stage: str, advice: str
) -> None:
    lacks(azure)
    said = first(expect=3)
    assert advice in said
    assert f"to go on with it: physai first {STACK}" in said
    before = BEFORE[: BEFORE.index(stage)]
    assert states() == {**dict.fromkeys(before, "passed"), stage: "failed"}
    assert {words[1] for words in commands.ran} == {"check"}  # nothing was created
    folder = Folder.of(STACK, simulated=False).path
    [evidence] = folder.glob(f"*-{stage}-1.txt")

    assert advice in first(expect=3)  # the cause is still there
    mended(azure)
    commands.ran.clear()
    assert "every stage is done" in first()
    checks = [words for words in commands.ran if words[1] == "check"]
    assert len(checks) == len(BEFORE) - len(before)  # no stage that had passed was run again
    assert set(states().values()) <= {"passed", "left-out"}
    kept = sorted(folder.glob(f"*-{stage}-*.txt"))
    assert (kept[0], len(kept)) == (evidence, 3)
    assert "deployments" not in " ".join(path for method, path, _ in azure.web.asked if method == "PUT")


@pytest.mark.parametrize("name", [pytest.param(each, marks=() if each == "quota" else DEEP) for each in BEFORE])
def test_it_is_interrupted_while_azure_is_asked_and_goes_on_there(commands: Commands, azure: World, name: str) -> None:
    real, begun = commands.check, iter(BEFORE)
    assert real is not None

    def cut(words: Sequence[str]) -> Answer:
        if next(begun) == name:
            raise KeyboardInterrupt
        return Answer(0, json.dumps(GOOD["check"] | {"findings": EVERY_TOPIC}))

    commands.check = cut
    assert "interrupted; to go on" in first(expect=130)
    assert states() == {**dict.fromkeys(BEFORE[: BEFORE.index(name)], "passed"), name: "running"}
    commands.check = real
    commands.ran.clear()
    first("--until", name)
    assert states()[name] == "passed"
    assert len(commands.ran) == 1


EVERY_TOPIC = [
    {"topic": topic, "status": "ok", "subject": "s", "message": "m", "fix": None}
    for topic in ("role", "provider", "quota", "verdict")
]
