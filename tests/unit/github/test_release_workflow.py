"""The workflow of a release: its scripts, run on a small checkout, and what each job may do."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from physical_ai.repository import ROOT
from tests.support import release_checkout
from tests.support.release_checkout import git
from tests.support.workflow_files import GITHUB, Workflow, script

RELEASE = Workflow(GITHUB / "workflows" / "release.yaml")
TAG = "v1.2.3"
REHEARSAL = """\
import sys
from pathlib import Path
from docs.generator.release.rehearsal import rehearse
given = dict(word.partition("=")[::2] for word in sys.argv[1:])
rehearse(Path.cwd(), Path(given["OUTPUT"]), tag=given["TAG"])
"""
VERIFIED = {"tagger": {"name": "Ada"}, "verification": {"verified": True, "reason": "valid"}}


@dataclass(frozen=True)
class Machine:
    """Runner of the workflow's scripts on a small checkout, with `make`, `gh` and Python of the test's own."""

    folder: Path

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    def command(self, name: str, text: str) -> None:
        file = self.folder / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)

    def run(self, job: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs the scripts of a job one after the other, up to the first that fails; what the last one printed."""
        own = {
            "TAG": TAG,
            "GITHUB_REPOSITORY": "acme/platform",
            "RUNNER_TEMP": str(self.folder / "temp"),
            **environment,
        }
        path = f"{self.folder / 'bin'}:/usr/local/bin:/usr/bin:/bin"
        done = subprocess.CompletedProcess[str]([], 0, "", "")
        for step in (each for each in RELEASE.jobs[job]["steps"] if "run" in each):
            done = subprocess.run(
                ["bash", "-e", "-c", step["run"]],
                cwd=cwd or self.workspace,
                env={**own, "PATH": path, "HOME": str(self.folder)},
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                break
        return done


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return _machine(tmp_path)


BUILDS = pytest.mark.deep
"""In `make test`: the files of a release in tests/unit/docs/test_release.py, and what stops a build below."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A machine on which the build has run, which takes seconds. No test changes its files."""
    made = _machine(tmp_path_factory.mktemp("built"))
    ran = made.run("build")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return made


def _machine(folder: Path) -> Machine:
    made = Machine(folder)
    origin = release_checkout.write(folder / "origin")
    git(origin, "tag", "-a", TAG, "-m", TAG)
    git(folder, "clone", "--quiet", str(origin), str(made.workspace))
    (made.workspace / ".github").mkdir()
    shutil.copytree(GITHUB / "scripts", made.workspace / ".github" / "scripts")
    (made.workspace / ".git" / "info" / "exclude").write_text(".github/\n")
    python = f"PYTHONPATH={ROOT} exec {sys.executable}"
    made.command("python3", f'{python} "$@"')
    (folder / "rehearsal.py").write_text(REHEARSAL)
    made.command("make", f'[ "$1" = release ] && shift && {python} {folder / "rehearsal.py"} "$@"')
    answers(made, VERIFIED)
    return made


def answers(machine: Machine, tag: dict[str, Any], kind: str = "tag") -> None:
    """Makes `gh` answer about the tag."""
    (machine.folder / "ref.json").write_text(json.dumps({"object": {"type": kind, "sha": "abc"}}))
    (machine.folder / "tag.json").write_text(json.dumps(tag))
    cases = {
        f"*git/ref/tags/{TAG}": f"cat {machine.folder}/ref.json",
        "*git/tags/abc": f"cat {machine.folder}/tag.json",
        '"release create "*': f'echo "$@" >> {machine.folder}/released',
        "*": "exit 2",
    }
    lines = "".join(f"{pattern}) {command} ;;\n" for pattern, command in cases.items())
    machine.command("gh", f'case "$*" in\n{lines}esac')


@BUILDS
def test_the_files_pass_from_job_to_job_and_only_archives_go_to_the_index(built: Machine, tmp_path: Path) -> None:
    for job in ("attest", "publish", "notes"):
        cwd = tmp_path / job
        shutil.copytree(built.workspace / "dist", cwd / "dist")
        ran = built.run(job, cwd)
        assert ran.returncode == 0, ran.stderr
    packages = {file.name.partition("-")[2] for file in (tmp_path / "publish" / "packages").iterdir()}
    assert packages == {"1.2.3-py3-none-any.whl", "1.2.3.tar.gz"}
    released = (built.folder / "released").read_text()
    assert f"release create {TAG} --verify-tag" in released
    assert "dist/SHA256SUMS" in released
    assert "dist/physical-ai.cdx.json" in released
    assert "dist/RELEASE-NOTES.md" not in released
    sbom = RELEASE.step("What the program consists of")["with"]["sbom-path"]
    assert (built.workspace / sbom).is_file()


@BUILDS
@pytest.mark.parametrize("job", ["attest", "publish"])
def test_what_was_changed_or_lost_on_the_way_is_not_published(built: Machine, tmp_path: Path, job: str) -> None:
    shutil.copytree(built.workspace / "dist", tmp_path / "dist")
    wheel = next((tmp_path / "dist").glob("*.whl"))
    wheel.write_bytes(wheel.read_bytes()[:-10])
    assert "FAILED" in built.run(job, tmp_path).stdout
    wheel.unlink()
    assert built.run(job, tmp_path).returncode != 0


@BUILDS
def test_a_build_that_is_not_repeated_is_not_published(machine: Machine, built: Machine) -> None:
    """Both builds are copies; the second one has another file."""
    machine.command(
        "make",
        'mkdir -p "$RUNNER_TEMP"; for word in "$@"; do case "$word" in\n'
        f'OUTPUT=*again) cp -r {built.workspace}/dist "${{word#OUTPUT=}}" && : > "${{word#OUTPUT=}}/SHA256SUMS" ;;\n'
        f'OUTPUT=*) cp -r {built.workspace}/dist "${{word#OUTPUT=}}" ;;\n'
        "esac; done",
    )
    ran = machine.run("build")
    assert ran.returncode != 0
    assert "SHA256SUMS" in ran.stdout
    assert "Only in" not in ran.stdout


def test_a_tag_of_a_commit_that_was_not_merged_is_not_built(machine: Machine) -> None:
    git(machine.workspace, "commit", "--quiet", "--allow-empty", "-m", "Not merged")
    git(machine.workspace, "tag", "--force", "-a", TAG, "-m", TAG)
    assert f"::error::{TAG} is of a commit that is not on main" in machine.run("build").stdout
    assert not (machine.workspace / "dist").exists()


@pytest.mark.parametrize(
    ("tag", "kind", "problem"),
    [
        (VERIFIED, "commit", "it is a name for a commit, without an author"),
        ({**VERIFIED, "verification": {"verified": False, "reason": "unsigned"}}, "tag", "not verified: unsigned"),
        ({**VERIFIED, "verification": {"verified": "yes", "reason": "odd"}}, "tag", "not verified: odd"),
        ({"message": "Not Found"}, "tag", "GitHub's answer has another form"),
    ],
)
def test_a_tag_without_a_verified_signature_is_not_built(
    machine: Machine, tag: dict[str, Any], kind: str, problem: str
) -> None:
    answers(machine, tag, kind)
    ran = machine.run("build")
    assert ran.returncode == 1
    assert f"::error::{TAG} is not released: " in ran.stdout
    assert problem in ran.stdout
    assert not (machine.workspace / "dist").exists()


@pytest.mark.parametrize(
    ("gh", "problem"),
    [("echo '<html>'", "GitHub's answer is no JSON"), ("echo 'HTTP 403' >&2; exit 1", "HTTP 403"), ("", "no JSON")],
)
def test_an_answer_of_github_that_says_nothing_is_no_signature(machine: Machine, gh: str, problem: str) -> None:
    machine.command("gh", gh)
    ran = machine.run("build")
    assert ran.returncode == 1
    assert problem in ran.stdout


def test_without_the_github_cli_no_tag_is_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = script("signed_tag")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(os.environ, "GITHUB_REPOSITORY", "acme/platform")
    with pytest.raises(module.NotSigned, match="could not be asked"):
        module.require_signature(TAG)


def test_a_release_runs_only_where_it_is_enabled_and_each_job_waits_for_the_one_before() -> None:
    jobs = RELEASE.jobs
    assert RELEASE.document["on"] == {"push": {"tags": ["v*"]}}
    assert jobs["build"]["if"].startswith("vars.RELEASE == 'true' && ")
    assert [jobs[name]["needs"] for name in ("attest", "publish", "notes")] == ["build", "attest", "publish"]
    assert {jobs[name]["environment"] for name in ("attest", "publish", "notes")} == {"release", "pypi"}


def test_what_is_published_comes_from_no_cache_and_no_secret() -> None:
    assert "secrets." not in RELEASE.text
    for job, step in RELEASE.steps():
        assert "actions/cache" not in step.get("uses", ""), job
        assert "cache" not in (step.get("with") or {}), job
    assert not any("checkout" in step.get("uses", "") for job, step in RELEASE.steps() if job != "build")
