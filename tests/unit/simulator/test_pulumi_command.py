"""The plain `pulumi` of a simulation says what to run where it would fail, or change what nothing reads."""

from __future__ import annotations

import subprocess
from pathlib import Path

from simulator import plugin
from simulator.pulumi_command import answer
from tests.support.cases import in_one_test

STACK = "dev-westus2"


@in_one_test(
    ("typed", "ours"),
    [
        ("up", "physai up dev-westus2"),
        ("update --yes", "physai up dev-westus2"),
        ("-s dev-westus2 --color never preview --diff", "physai preview dev-westus2"),
        ("pre -r", "physai preview dev-westus2 --refresh"),
        (
            "up --refresh=true -t **gpus --target=urn:x -c physical-ai:osmo.retries=3",
            "physai up dev-westus2 --refresh --target '**gpus' --target urn:x --set osmo.retries=3",
        ),
        ("refresh --run-program", "physai refresh dev-westus2 --run-program"),
        ("destroy --run-program", "physai down dev-westus2 --run-program"),
        ("import azure-native:resources:ResourceGroup x /id", "physai preview dev-westus2"),
        ("watch", "physai preview dev-westus2"),
        ("stack rm --force", "physai down dev-westus2"),
        (
            "config set --path physical-ai:pools.h100gpu.scale.max 3",
            "physai up dev-westus2 --set pools.h100gpu.scale.max=3",
        ),
        ("config -s dev-westus2 set gpuOperator.version v26.3.3", "--set gpuOperator.version=v26.3.3"),
        ("config set physical-ai:protect", "stacks/Pulumi.dev-westus2.yaml"),
        ("config rm --path physical-ai:pools.h100gpu", "stacks/Pulumi.dev-westus2.yaml"),
        ("config set-all --path --plaintext physical-ai:protect=true", "stacks/Pulumi.dev-westus2.yaml"),
        ("config set --secret --path physical-ai:secrets.osmoOidcClientSecret", "makes up the secrets"),
        ("config set --path physical-ai:secrets.osmoOidcClientSecret x", "makes up the secrets"),
    ],
)
def test_what_the_plain_pulumi_cannot_do_is_answered(typed: str, ours: str) -> None:
    assert ours in answer(STACK, typed.split())


@in_one_test(
    "typed",
    [
        "",
        "--version",
        "up --help",
        "config",
        "config get --path physical-ai:pools",
        "stack output",
        "stack --show-urns",
        "refresh --yes",
        "destroy --exclude-protected",
        "state delete urn:pulumi:up",
        "stack history",
        "-C up version",
    ],
)
def test_all_else_is_pulumis_own(typed: str) -> None:
    assert not answer(STACK, typed.split())


def test_the_command_on_path_is_both(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    real = tmp_path / "real"
    real.write_text('#!/bin/sh\necho "$@"\n')
    real.chmod(0o700)
    plugin.install(tmp_path, tmp_path, real, STACK)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [str(tmp_path / "bin" / "pulumi"), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert run("stack", "output").stdout == f"-C {tmp_path / 'work'} stack output\n"
    answered = run("up", "--yes")
    assert (answered.returncode, answered.stdout) == (1, "")
    assert answered.stderr.startswith("error: ")
    assert answered.stderr.endswith("\n  physai up dev-westus2\n")
