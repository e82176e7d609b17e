"""Release downloads: used only when every byte is as pinned, and never in the way of a build."""

from __future__ import annotations

import hashlib
import http.server
import io
import socket
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from simulator.tools import BuildFailed, Origin, Progress, install, release, toolbox
from simulator.tools.families import FAMILIES, Family

ETCD = next(family for family in FAMILIES if family.name == "etcd")
VERSION = ETCD.version().removeprefix("v")
PLATFORM = release.this_platform()
Answer = Callable[[http.server.BaseHTTPRequestHandler], None]


def _archive(name: str = "etcd/etcd", version: str = VERSION, kind: bytes = tarfile.REGTYPE) -> bytes:
    """An archive with a command that prints a version, and a member that would leave its folder."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path, text in ((name, f"#!/bin/sh\necho etcd Version: {version}\n"), ("../../escaped", "out")):
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(text), 0o644
            if path == name:
                member.type, member.linkname = kind, "/bin/sh"
            archive.addfile(member, io.BytesIO(text.encode()))
    return packed.getvalue()


@contextmanager
def _server(answers: dict[str, Answer]) -> Iterator[str]:
    """A server on loopback; its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answers[self.path](self)

        def log_message(self, format: str, *args: object) -> None:
            """Prints nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def _send(content: bytes, length: int | None = None) -> Answer:
    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(content) if length is None else length))
        request.end_headers()
        request.wfile.write(content)

    return answer


def _redirect(target: str) -> Answer:
    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(302)
        request.send_header("Location", target)
        request.end_headers()

    return answer


def _endless(request: http.server.BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.end_headers()
    try:
        while True:
            request.wfile.write(b"\0" * 65536)
    except OSError:
        return


def _pin(monkeypatch: pytest.MonkeyPatch, folder: Path, url: str, content: bytes) -> None:
    """Pins this content as etcd's release at `url`."""
    data = folder / "releases.toml"
    data.write_text(
        f'[etcd]\nversion = "v{VERSION}"\nurl = "{url}"\nmembers = {{ etcd = "etcd/etcd" }}\ncheck = ["--version"]\n'
        f'source = "this test"\n[etcd.sha256]\n{PLATFORM} = "{hashlib.sha256(content).hexdigest()}"\n'
    )
    monkeypatch.setattr(release, "DATA", data)
    monkeypatch.setattr(release, "pinned", lambda family: _pinned(family, data))  # pyright: ignore


_pinned = release.pinned


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
    with _server({"/storage": _send(content), "/etcd": _redirect("/storage")}) as url:
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
        pytest.param(_send(b"forged"), "is pinned", id="forged"),
        pytest.param(_send(_archive()[:100], len(_archive())), "ended after 100 of", id="truncated"),
        pytest.param(_endless, "is larger than", id="endless"),
        pytest.param(_redirect("/elsewhere"), "answered 404", id="redirected to nothing"),
        pytest.param(_redirect("file:///etc/passwd"), "not allowed", id="redirected to a file"),
        pytest.param(_redirect("ftp://127.0.0.1/etcd"), "redirects to", id="redirected to another protocol"),
    ],
)
def test_bytes_that_are_not_the_pinned_ones_are_refused_and_built_instead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: list[str], answer: Answer, reason: str
) -> None:
    monkeypatch.setattr(release, "MOST_BYTES", 1 << 20)
    with _server({"/etcd": answer, "/elsewhere": lambda request: request.send_error(404)}) as url:
        _pin(monkeypatch, tmp_path, f"{url}/etcd", _archive())
        with pytest.raises(BuildFailed, match=reason):
            toolbox(tmp_path / "cache", families=[ETCD], origin=Origin.RELEASE)
        assert toolbox(tmp_path / "cache", families=[ETCD], origin=Origin.AUTO).path("etcd").read_text() == "built"
    assert len(built) == 1
    assert reason in built[0]
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
    with _server({"/etcd": _send(content)}) as url:
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
            return release.Release(f"http://{hosts[family.name == 'helm']}/{family.name}", "0" * 64, {}, ())

        monkeypatch.setattr(release, "pinned", wanted)  # pyright: ignore
        download = release.download
        monkeypatch.setattr(
            release, "download", lambda family, *rest: (attempts.append(family.name), download(family, *rest))[1]
        )
        toolbox(tmp_path / "cache", origin=Origin.AUTO)
    assert attempts == [FAMILIES[0].name, "helm"]
    assert len(built) == len(FAMILIES)
    for family, reason in zip(FAMILIES, built, strict=True):
        assert reason.startswith(f"{hosts[family.name == 'helm']} cannot be reached")


def test_a_version_or_platform_without_a_pinned_checksum_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, built: list[str]
) -> None:
    kubernetes = next(family for family in FAMILIES if family.name == "kubernetes")
    toolbox(tmp_path, families=[kubernetes], origin=Origin.AUTO)
    monkeypatch.setattr(release, "this_platform", lambda: "plan9-mips")
    toolbox(tmp_path, families=[ETCD], origin=Origin.AUTO)
    assert built[0].startswith(f"no checksum is pinned for its release {kubernetes.version()}")
    assert built[1].endswith("on plan9-mips")


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


def test_every_pinned_release_names_its_source_and_is_of_the_version_in_go_mod() -> None:
    import tomllib

    rows = tomllib.loads(release.DATA.read_text())
    families = {family.name: family for family in FAMILIES}
    for name, row in rows.items():
        assert row["version"] == families[name].version()
        assert row["source"]
        assert row["url"].startswith("https://")
        assert set(row["members"]) <= set(families[name].commands.values())
        assert all(len(checksum) == 64 for checksum in row["sha256"].values())
