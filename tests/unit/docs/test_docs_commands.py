"""Every command in the pages exists, with its options. Commands that need no cluster are executed."""

from __future__ import annotations

import importlib.util
import io
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from docs.generator.commands import commands as physai_commands
from physical_ai.settings import existing
from tests.support.documentation import ROOT
from tests.support.shell_blocks import Command, every_command, split
from workbench.cli.main import run

OTHERS = {
    *("apt-get", "az", "cd", "echo", "eval", "export", "git", "grep", "helm", "kubectl", "kubelogin", "mkdir", "osmo"),
    *("pip", "pipx", "pulumi", "apt-cache", "sha256sum", "sort", "cat", "pre-commit", "python", "xargs", "openssl"),
}
"""Commands of other projects."""
OFFLINE = ("explain", "sizes", "regions", "compat", "cost", "stacks", "lint", "osmo platforms", "osmo values", "charts")
"""Our commands that are fast and need neither a simulation nor a network."""
STACK = re.compile(r"(dev|quickstart|staging|prod|seed)-[a-z0-9]+")
SCRIPT = f"""#!/bin/bash
#SBATCH --time=30 --gres=gpu:h100:1 --container-image=example.com/train:1@sha256:{"0" * 64}
srun python train.py
"""
PLACEHOLDER = re.compile(r"[A-Z][A-Z_]*(\.\w+)?|.*[‹<…].*")
OWN_OPTIONS = {"--version", "--install-completion", "--show-completion"}
"""Options of `physai` itself."""
COMMANDS = {words[1:]: command for words, command in physai_commands()}
ALL = every_command()
OURS = [command for command in ALL if command.words[0] in {"physai", ".venv/bin/physai"} and "$@" not in command.words]
CREATED = {
    each for command in ALL if command.words[1:3] == ("stack", "new") for each in command.words if STACK.fullmatch(each)
}
"""Stacks that a page creates before it uses them."""


def subcommand(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The name of a command, as words, and its arguments."""
    for length in (2, 1):
        if words[1 : 1 + length] in COMMANDS:
            return words[1 : 1 + length], words[1 + length :]
    return (), words[1:]


def faults(command: Command) -> Iterator[str]:
    """Messages about what is wrong with a `physai` command."""
    name, arguments = subcommand(command.words)
    if not name:
        groups = {each[0] for each in COMMANDS}
        first = arguments[0] if arguments else "…"
        if (
            not OWN_OPTIONS.issuperset(arguments)
            and not PLACEHOLDER.fullmatch(first)
            and (first not in groups or len(arguments) > 1)
        ):
            yield f"no command {first}"
        return
    parameters = COMMANDS[name].params
    options = {
        option: each
        for each in parameters
        if each.param_type_name == "option"
        for option in (*each.opts, *each.secondary_opts)
    }
    places = [each for each in parameters if each.param_type_name == "argument"]
    given: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            given.append(word.strip("[]"))
        elif word.partition("=")[0] in {"--help", "-h"}:
            continue
        elif (option := options.get(word.partition("=")[0])) is None:
            yield f"no option {word}"
            return
        elif not option.is_flag and "=" not in word:
            if command.complete and len(rest) < option.nargs:
                yield f"{word} needs a value"
            rest = rest[option.nargs :]
    if len(given) > len(places) and not any(each.nargs == -1 for each in places):
        yield f"too many arguments: {' '.join(given)}"
    if command.complete and len(given) < sum(each.required for each in places):
        yield "an argument is missing"
    for word in arguments:
        if STACK.fullmatch(word) and word not in {*existing(), *CREATED}:
            yield f"no stack {word}"


def test_each_command_exists_with_its_options() -> None:
    assert OURS
    assert {f"{each.page}: {' '.join(each.words)}": found for each in OURS if (found := [*faults(each)])} == {}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("physai explian dev-westus2", "no command explian"),
        ("physai up dev-westus2 --sett a=1", "no option --sett"),
        ("physai down dev-westus2 prod-westus2", "too many arguments: dev-westus2 prod-westus2"),
        ("physai run", "an argument is missing"),
        ("physai cost dev-mars", "no stack dev-mars"),
        ("physai up dev-westus2 --set", "--set needs a value"),
    ],
)
def test_a_command_that_does_not_exist_is_found(text: str, fault: str) -> None:
    (words,) = split(text)
    assert list(faults(Command("page", words, complete=True))) == [fault]


def test_commands_are_split_like_in_a_shell() -> None:
    text = """A=1 make up  # now
kubectl get pods > pods.txt 2>&1 | grep 'a b' && physai stack new <environment>-<region> \\
  --yes
x=$(physai env)"""
    assert list(split(text)) == [
        ("physai", "env"),
        ("make", "up"),
        ("kubectl", "get", "pods"),
        ("grep", "a b"),
        ("physai", "stack", "new", "<environment>-<region>", "--yes"),
    ]


def test_commands_of_other_projects_are_known() -> None:
    assert {each.words[0].removeprefix(".venv/bin/") for each in ALL} - OTHERS - {"physai", "make"} == set()


def test_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    words = {word for each in ALL if each.words[0] == "make" for word in each.words[1:]}
    named = {word for word in words if re.fullmatch(r"[a-z-]+", word)}
    assert {"up", "down", "test"} <= named
    assert named - targets == set()


def test_python_modules_exist() -> None:
    named = {each.words[2] for each in ALL if each.words[0].endswith("python") and each.words[1] == "-m"}
    assert {each for each in named if importlib.util.find_spec(each) is None} == set()


def offline() -> dict[tuple[str, ...], str]:
    """Commands to execute, without duplicates, each with its page."""
    found: dict[tuple[str, ...], str] = {}
    for command in OURS:
        name, arguments = subcommand(command.words)
        new = name == ("stack", "new") and "--dry-run" in arguments
        created = set() if new else CREATED
        # With --add the catalogue's own file would be written: tests/unit/cli/test_adding_offers.py.
        left_out = {*created, "--simulate", "--add"}
        known = not any(PLACEHOLDER.fullmatch(each) or each in left_out for each in arguments)
        if command.complete and known and (new or " ".join(name) in OFFLINE):
            found.setdefault((*name, *arguments), command.page)
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of the commands, with the samples and the files that the pages mention."""
    (tmp_path / "workbench").symlink_to(ROOT / "workbench")
    (tmp_path / "train.yaml").write_bytes((ROOT / "workbench/osmo/samples/train-and-evaluate.yaml").read_bytes())
    (tmp_path / "workflows").symlink_to(ROOT / "workbench/osmo/samples")
    (tmp_path / "train.sbatch").write_text(SCRIPT)
    (tmp_path / "my.yaml").write_text("tags: {team: vision}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHYSAI_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.mark.parametrize("arguments", offline(), ids=" ".join)
def test_the_command_succeeds(arguments: tuple[str, ...], folder: Path) -> None:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(list(arguments))
    assert code == 0, f"exit code {code}\n{out.getvalue()}\n{err.getvalue()}"
    assert out.getvalue() or err.getvalue() or (folder / "values.yaml").is_file()
