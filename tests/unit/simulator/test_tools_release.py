"""Release downloads: used only when every byte is as pinned, and never in the way of a build."""

from __future__ import annotations

import hashlib
import socket
import tarfile
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from simulator.tools import KUBECTL, BuildFailed, Origin, Progress, install, release, toolbox, transfer
from simulator.tools.families import FAMILIES, Family
from tests.support import publisher
from tests.support.cases import in_one_test
from tests.support.publisher import Answer, endless, redirect, refuse, send, slow

ETCD = next(family for family in FAMILIES if family.name == "etcd")
VERSION = ETCD.version().removeprefix("v")
PLATFORM = release.this_platform()


def _archive(name: str = "etcd/etcd", version: str = VERSION, kind: bytes = tarfile.REGTYPE) -> bytes:
    return publisher.archive(name, publisher.program(f"etcd Version: {version}"), kind)


def _pin(monkeypatch: pytest.MonkeyPatch, folder: Path, url: str, content: bytes) -> None:
    """Pins this content as etcd's release at `url`."""
    data = folder / "releases.toml"
    data.write_text(
        f'[etcd]\nversion = "v{VERSION}"\nurl = "{url}"\nmembers = {{ etcd = "etcd/etcd" }}\ncheck = ["--version"]\n'
        f'source = "this test"\n[etcd.sha256]\n{PLATFORM} = "{hashlib.sha256(content).hexdigest()}"\n'
    )
    monkeypatch.setattr(release, "known_release", lambda family: _known(family, data))  # pyright: ignore


_known: Callable[[Family, Path], release.Release] = release.known_release


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Reasons of the builds, none of which happens."""
    reasons: list[str] = []

    def build(family: Family, folder: Path, cache: Path, report: object, reason: str) -> None:
        folder.mkdir(parents=True)
        for command in family.commands.values():
            (folder / command).write_text("built")
        reasons.append(reason)

    monkeypatch.setattr(install, "build", build)
    return reasons


def test_a_verified_release_is_unpacked_without_anything_else_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: list[str]
) -> None:
    content, seen = _archive(), list[Progress]()
    with publisher.publisher({"/storage": send(content), "/etcd": redirect("/storage")}) as url:
        _pin(monkeypatch, tmp_path, f"{url}/etcd", content)
        found = toolbox(tmp_path / "cache", seen.append, [ETCD], Origin.AUTO)
    folder = found.path("etcd").parent
    assert [path.name for path in folder.iterdir()] == ["etcd"]
    assert folder.name == f"etcd-v{VERSION}-{PLATFORM}"
    assert built == []
    assert not list(tmp_path.rglob("escaped"))
    assert (seen[-1].finished, seen[-1].done, seen[-1].action) == (True, len(content), "download")
    toolbox(tmp_path / "cache", families=[ETCD], origin=Origin.RELEASE)  # the server is stopped


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        pytest.param(send(b"forged"), "has the SHA-256", id="forged"),
        pytest.param(send(_archive()[:100]), "has the SHA-256", id="cut, with the length of the cut"),
        pytest.param(send(_archive()[:100], len(_archive())), "ended after 100 of", id="cut"),
        pytest.param(send(b"", 1 << 40), "is larger than", id="a size that fills the disk"),
        pytest.param(endless, "is larger than", id="endless"),
        pytest.param(slow(0.005), "is sent at", id="a byte at a time"),
        pytest.param(refuse(403), "answered 403", id="forbidden"),
        pytest.param(refuse(404), "answered 404", id="not there"),
        pytest.param(refuse(503), "answered 503", id="out of order"),
        pytest.param(redirect("/etcd"), "redirects in a loop", id="redirected to itself"),
        pytest.param(redirect("/elsewhere"), "answered 404", id="redirected to nothing"),
        pytest.param(redirect("file:///etc/passwd"), "not allowed", id="redirected to a file"),
        pytest.param(redirect("ftp://127.0.0.1/etcd"), "redirects to", id="redirected to another protocol"),
    ],
)
def test_bytes_that_are_not_the_pinned_ones_are_refused_and_built_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: list[str], answer: Answer, reason: str
) -> None:
    monkeypatch.setattr(transfer, "MOST_BYTES", 1 << 24)
    monkeypatch.setattr(transfer, "SLOW_SECONDS", 0.1)
    with publisher.publisher({"/etcd": answer, "/elsewhere": refuse(404)}) as url:
        _pin(monkeypatch, tmp_path, f"{url}/etcd", _archive())
        with pytest.raises(BuildFailed, match=reason):
            toolbox(tmp_path / "cache", families=[ETCD], origin=Origin.RELEASE)
        assert toolbox(tmp_path / "cache", families=[ETCD], origin=Origin.AUTO).path("etcd").read_text() == "built"
    assert len(built) == 1
    assert reason in built[0]
    assert "\n" not in built[0]
    assert not list((tmp_path / "cache").glob(".etcd-*"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(_archive(version="3.0.0"), "is not v", id="another version"),
        pytest.param(_archive(name="etcd/other"), "cannot be unpacked", id="a missing member"),
        pytest.param(_archive(kind=tarfile.SYMTYPE), "not a plain file", id="a link"),
        pytest.param(b"no archive", "cannot be unpacked", id="no archive"),
    ],
)
def test_an_archive_that_is_pinned_but_holds_something_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, reason: str
) -> None:
    with publisher.publisher({"/etcd": send(content)}) as url:
        _pin(monkeypatch, tmp_path, f"{url}/etcd", content)
        with pytest.raises(BuildFailed, match=reason):
            toolbox(tmp_path / "cache", families=[ETCD], origin=Origin.RELEASE)


def test_a_host_that_cannot_be_reached_is_tried_once_and_the_others_still_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: list[str]
) -> None:
    with socket.socket() as closed, socket.socket() as other:
        for each in (closed, other):
            each.bind(("127.0.0.1", 0))
        hosts = [f"127.0.0.1:{each.getsockname()[1]}" for each in (closed, other)]
        attempts: list[str] = []

        def wanted(family: Family) -> release.Release:
            url = f"http://{hosts[family.name == 'helm']}/{family.name}"
            return release.Release((release.ReleaseFile(url, "0" * 64, "", {}, family.name),), ())

        monkeypatch.setattr(release, "known_release", wanted)  # pyright: ignore
        download = release.download_release
        monkeypatch.setattr(
            release,
            "download_release",
            lambda family, *rest: (attempts.append(family.name), download(family, *rest))[1],
        )
        toolbox(tmp_path / "cache", origin=Origin.AUTO)
    assert attempts == [FAMILIES[0].name, "helm"]
    assert len(built) == len(FAMILIES)
    for family, reason in zip(FAMILIES, built, strict=True):
        assert reason.startswith(f"{hosts[family.name == 'helm']} cannot be reached")


def test_a_version_or_platform_without_a_known_checksum_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: list[str]
) -> None:
    monkeypatch.setattr(release, "this_platform", lambda: "plan9-mips")
    toolbox(tmp_path, families=FAMILIES, origin=Origin.AUTO)
    assert [reason for reason in built if not reason.endswith("on plan9-mips")] == []
    assert built[0].startswith(f"no checksum is known for its release {FAMILIES[0].version()}")


def test_a_forced_build_does_not_use_a_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: list[str]
) -> None:
    monkeypatch.setenv(install.VARIABLE, "build")
    released = tmp_path / f"etcd-v{VERSION}-{PLATFORM}"
    released.mkdir()
    (released / "etcd").touch()
    assert toolbox(tmp_path, families=[ETCD]).path("etcd").read_text() == "built"
    monkeypatch.setenv(install.VARIABLE, "source")
    with pytest.raises(BuildFailed, match="auto, release, build"):
        toolbox(tmp_path, families=[ETCD])


@in_one_test("family", [*FAMILIES, KUBECTL], ids=lambda family: family.name)
@in_one_test("platform", ["linux-amd64", "linux-arm64"])
def test_every_tool_has_a_release_of_the_version_in_go_mod_with_a_checksum_or_its_place(
    monkeypatch: pytest.MonkeyPatch, family: Family, platform: str
) -> None:
    monkeypatch.setattr(release, "this_platform", lambda: platform)
    found = release.known_release(family)
    of_commands = {name for each in found.files for name in (each.members or {each.command: ""})}
    assert of_commands == set(family.commands.values())
    for each in found.files:
        assert each.url.startswith("https://")
        assert family.version().removeprefix("v") in each.url
        assert len(each.sha256) == 64 or each.published.startswith("https://")
        assert "{" not in " ".join((each.url, each.published, *each.members.values()))


def test_every_release_names_its_source() -> None:
    rows = tomllib.loads(release.DATA.read_text())
    assert set(rows) == {family.name for family in (*FAMILIES, KUBECTL)}
    assert all(row["source"] for row in rows.values())
