"""Building the pinned commands: once, in one piece, with the reason when it fails."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path

import pytest

from simulator.tools import KUBECTL, BuildFailed, Origin, Progress, Toolbox, families, go, left_out
from simulator.tools import toolbox as installed
from simulator.tools.families import FAMILIES, Family, Report

FAKE_GO = """#!/bin/sh
echo "$@" >> "$CALLS"
case "$1" in
  env) echo go{version} ;;
  list) echo a; echo b; echo c ;;
  mod) echo "go: downloading $3" >&2; printf '{\n"Dir": "%s"\n}\n' "$MODULE" ;;
  build)
    if [ -n "$BREAK" ]; then echo "cannot find module k8s.io/x"; exit 1; fi
    echo a; echo b
    while [ "$1" != -o ]; do shift; done
    {make}
    ;;
esac
"""


def toolbox(cache: Path, report: Report = lambda _: None) -> Toolbox:
    return installed(cache, report, origin=Origin.BUILD)


@pytest.fixture
def fake_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `go` on PATH that makes empty commands and writes down how it was called."""
    makes = 'mkdir -p "$2"\n' + "\n".join(
        f'case "$2" in */.{f.name}-*) for c in {" ".join(f.commands)}; do : > "$2$c"; done ;; esac'
        for f in (*FAMILIES, KUBECTL)
    )
    folder = tmp_path / "path"
    folder.mkdir()
    command = folder / "go"
    command.write_text(FAKE_GO.replace("{version}", "1.99.0").replace("{make}", makes))
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    calls = tmp_path / "calls"
    calls.touch()
    monkeypatch.setenv("CALLS", str(calls))
    monkeypatch.setenv("MODULE", str(_module(tmp_path / "module")))
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return calls


def _module(folder: Path) -> Path:
    """A module with the imports and files that a build of Pulumi leaves out."""
    pulumi = families.HERE / "pulumi"
    for file in (pulumi / left_out.REPLACED).rglob("*.go"):
        (folder / file.relative_to(pulumi / left_out.REPLACED)).parent.mkdir(parents=True, exist_ok=True)
        (folder / file.relative_to(pulumi / left_out.REPLACED)).touch()
    imports = tomllib.loads((pulumi / left_out.FILE).read_text())["imports"]
    (folder / "main.go").write_text("\n".join(f'import "{path}"' for path in imports))
    return folder


def test_every_command_is_built_once_and_found_by_its_usual_name(fake_go: Path, tmp_path: Path) -> None:
    built = toolbox(tmp_path / "cache")
    for name in ("etcd", "kube-apiserver", "kwok", "helm", "pulumi"):
        assert built.path(name).exists()
    with pytest.raises(KeyError):
        built.path("kubectl")
    assert installed(tmp_path / "cache", families=(KUBECTL,), origin=Origin.BUILD).path("kubectl").exists()
    before = fake_go.read_text()
    toolbox(tmp_path / "cache")
    assert fake_go.read_text() == before
    with pytest.raises(KeyError):
        built.path("kubeadm")


def test_progress_counts_packages_up_to_the_total(fake_go: Path, tmp_path: Path) -> None:
    seen: list[Progress] = []
    toolbox(tmp_path / "cache", seen.append)
    first = [p for p in seen if p.family == "etcd"]
    assert (first[0].done, first[0].total) == (0, 0)
    assert first[-1].done == first[-1].total == 3
    assert [p.finished for p in first] == [False] * (len(first) - 1) + [True]


def test_a_failed_build_names_tool_reason_and_log_and_leaves_nothing_behind(
    fake_go: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BREAK", "1")
    cache = tmp_path / "cache"
    with pytest.raises(BuildFailed) as caught:
        toolbox(cache)
    text = str(caught.value)
    assert "simulator/tools/etcd" in text
    assert "cannot find module k8s.io/x" in text
    assert str(cache / "etcd.log") in text
    assert [path for path in cache.iterdir() if path.is_dir()] == []
    monkeypatch.delenv("BREAK")
    assert toolbox(cache).path("etcd").exists()


def test_the_users_own_go_flags_do_not_reach_the_build(
    fake_go: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOFLAGS", "-mod=vendor")
    command = Path(os.environ["PATH"].split(os.pathsep)[0]) / "go"
    command.write_text(command.read_text().replace('echo "$@"', 'echo "$1 $GOFLAGS"'))
    toolbox(tmp_path / "cache")
    builds = [line for line in fake_go.read_text().splitlines() if line.startswith("build")]
    assert len(builds) == len(FAMILIES)
    assert all("-mod=readonly" in line and "vendor" not in line for line in builds)


def test_a_changed_pin_builds_beside_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, "HERE", tmp_path)
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "go.sum").write_text("")
    family = Family("x", "example.com/x", {"x": "x"}, ("main.version={v}",))
    prints: set[str] = set()
    for version in ("v1.2.3", "v1.2.4"):
        (tmp_path / "x" / "go.mod").write_text(f"module m\n\nrequire example.com/x {version}\n")
        assert family.version() == version
        assert f"-X main.version={version}" in family.linker_flags()
        prints.add(family.fingerprint())
    assert len(prints) == 2


def test_an_old_go_is_passed_over(fake_go: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = Path(os.environ["PATH"].split(os.pathsep)[0]) / "go"
    command.write_text(command.read_text().replace("go1.99.0", "go1.19.2"))
    monkeypatch.setattr(go, "_fetched", lambda cache: cache / "fetched")
    assert go.find_go(tmp_path) == tmp_path / "fetched"


def test_a_go_for_another_machine_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "go").write_bytes(b"\x7fELF\0of another machine")
    (tmp_path / "go").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(go, "_fetched", lambda cache: cache / "fetched")
    assert go.find_go(tmp_path) == tmp_path / "fetched"


def test_without_go_the_message_describes_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(go.sys, "executable", "/bin/false")
    with pytest.raises(go.GoMissing, match="Install Go"):
        go.find_go(tmp_path)


def test_the_pulumi_cli_is_the_version_of_the_python_package() -> None:
    from importlib.metadata import version

    family = next(family for family in FAMILIES if family.name == "pulumi")
    assert family.version() == f"v{version('pulumi')}"


def test_an_empty_toolbox_has_no_command() -> None:
    with pytest.raises(KeyError):
        Toolbox(()).path("etcd")
