"""Downloads whose checksum only the publisher names: verified against it, recorded, and compared ever after."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from simulator.tools import BuildFailed, Origin, Progress, install, release, toolbox
from simulator.tools.families import FAMILIES, Family
from simulator.tools.reporting import ToolLines
from tests.support import publisher
from tests.support.publisher import Answer, redirect, refuse, send

KUBERNETES = next(family for family in FAMILIES if family.name == "kubernetes")
PULUMI = next(family for family in FAMILIES if family.name == "pulumi")
PLATFORM = release.this_platform()
PAGE = b"<!DOCTYPE html><html><title>Sign in to the hotel's network</title></html>"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _content(family: Family, command: str) -> bytes:
    return publisher.program(f"{command} {family.version()}")


def _of_kubernetes() -> dict[str, Answer]:
    """Kubernetes' commands, each with a file that has its checksum."""
    answers: dict[str, Answer] = {}
    for command in KUBERNETES.commands.values():
        content = _content(KUBERNETES, command)
        answers[f"/{command}"] = send(content)
        answers[f"/{command}.sha256"] = send(_sha256(content).encode())
    return answers


def _of_pulumi() -> dict[str, Answer]:
    """Pulumi's archive, and a list with the checksums of several."""
    packed = publisher.archive("pulumi/pulumi", _content(PULUMI, "pulumi"))
    listed = f"{'0' * 64}  other.tar.gz\n{_sha256(packed)}  pulumi.tar.gz\n"
    return {"/pulumi.tar.gz": send(packed), "/checksums.txt": send(listed.encode())}


ROWS = {
    "kubernetes": 'url = "{server}/{{command}}"\npublished = "{server}/{{command}}.sha256"\nmembers = {{}}\n',
    "pulumi": 'url = "{server}/pulumi.tar.gz"\npublished = "{server}/checksums.txt"\n'
    'members = {{ pulumi = "pulumi/pulumi" }}\n',
}


@pytest.fixture
def released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Function that makes a server the publisher of Kubernetes and Pulumi."""
    known: Callable[[Family, Path], release.Release] = release.known_release

    def use(server: str) -> None:
        data = tmp_path / "releases.toml"
        data.write_text(
            "".join(
                f'[{family.name}]\nversion = "{family.version()}"\nplatforms = ["{PLATFORM}"]\ncheck = ["version"]\n'
                f"{ROWS[family.name].format(server=server)}"
                for family in (KUBERNETES, PULUMI)
            )
        )
        monkeypatch.setattr(release, "known_release", lambda family: known(family, data))  # pyright: ignore

    return use


@pytest.mark.parametrize("family", [KUBERNETES, PULUMI], ids=lambda family: family.name)
def test_a_first_download_is_verified_with_the_publishers_checksum_which_is_recorded_with_a_warning(
    tmp_path: Path, released: Callable[[str], None], family: Family
) -> None:
    said = list[str]()
    with publisher.publisher({**_of_kubernetes(), **_of_pulumi()}) as server:
        released(server)
        found = toolbox(tmp_path / "cache", ToolLines(said.append, regular=True).report, [family], Origin.RELEASE)
        for command in family.commands.values():
            assert found.path(command).read_bytes() == _content(family, command)
        record = tmp_path / "cache" / install.CHECKSUMS
        rows = json.loads(record.read_text())
        assert len(rows) == (3 if family is KUBERNETES else 1)
        assert all(url.startswith(server) and len(row["sha256"]) == 64 and row["date"] for url, row in rows.items())
        assert said[-1] == f"  {family.name}: no checksum of it is pinned; its publisher's is now recorded in {record}"

        said.clear()
        _delete(tmp_path / "cache", family)
        toolbox(tmp_path / "cache", ToolLines(said.append, regular=True).report, [family], Origin.RELEASE)
        assert not [line for line in said if "recorded" in line]
    assert json.loads(record.read_text()) == rows


def _delete(cache: Path, family: Family) -> None:
    for folder in cache.glob(f"{family.name}-v*"):
        for file in folder.iterdir():
            file.unlink()


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        pytest.param({"/kube-scheduler.sha256": send(b"1" * 64)}, "has the SHA-256", id="a checksum of another file"),
        pytest.param(
            {"/kube-scheduler.sha256": send(PAGE)}, "begins with .<!DOCTYPE", id="a page instead of a checksum"
        ),
        pytest.param({"/kube-scheduler.sha256": send(b"")}, "has no SHA-256 of kube-scheduler", id="an empty checksum"),
        pytest.param(
            {"/kube-scheduler.sha256": send(b"1" * 63)}, "has no SHA-256 of kube-scheduler", id="a cut checksum"
        ),
        pytest.param({"/kube-scheduler.sha256": send(b"x" * (2 << 20))}, "is larger than", id="a checksum without end"),
        pytest.param({"/kube-scheduler.sha256": refuse(404)}, "answered 404", id="no checksum"),
        pytest.param({"/kube-scheduler.sha256": refuse(403)}, "answered 403", id="a forbidden checksum"),
        pytest.param(
            {"/kube-scheduler.sha256": redirect("/kube-scheduler.sha256")}, "redirects in a loop", id="a loop"
        ),
        pytest.param({"/kube-scheduler": send(PAGE)}, "has the SHA-256", id="a page instead of a command"),
    ],
)
def test_a_publisher_that_is_not_consistent_is_not_trusted_and_nothing_is_recorded(
    tmp_path: Path, released: Callable[[str], None], changed: Mapping[str, Answer], reason: str
) -> None:
    with publisher.publisher({**_of_kubernetes(), **changed}) as server:
        released(server)
        with pytest.raises(BuildFailed, match=reason):
            toolbox(tmp_path, families=[KUBERNETES], origin=Origin.RELEASE)
    assert not (tmp_path / install.CHECKSUMS).exists()
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


def test_two_checksums_of_one_name_in_a_list_are_none(tmp_path: Path, released: Callable[[str], None]) -> None:
    listed = f"{'1' * 64}  pulumi.tar.gz\n{'2' * 64}  pulumi.tar.gz\n"
    with publisher.publisher({**_of_pulumi(), "/checksums.txt": send(listed.encode())}) as server:
        released(server)
        with pytest.raises(BuildFailed, match=r"has no SHA-256 of pulumi\.tar\.gz"):
            toolbox(tmp_path, families=[PULUMI], origin=Origin.RELEASE)


def test_a_release_that_its_publisher_has_changed_since_is_refused(
    tmp_path: Path, released: Callable[[str], None]
) -> None:
    answers = _of_kubernetes()
    with publisher.publisher(answers) as server:
        released(server)
        toolbox(tmp_path, families=[KUBERNETES], origin=Origin.RELEASE)
        _delete(tmp_path, KUBERNETES)
        other = publisher.program(f"another kube-scheduler {KUBERNETES.version()}")
        answers["/kube-scheduler"], answers["/kube-scheduler.sha256"] = send(other), send(_sha256(other).encode())
        with pytest.raises(BuildFailed, match=f"has the SHA-256 {_sha256(other)}; .* since .* find out why"):
            toolbox(tmp_path, families=[KUBERNETES], origin=Origin.RELEASE)
        answers["/kube-scheduler.sha256"] = refuse(404)
        with pytest.raises(BuildFailed, match=f"has the SHA-256 {_sha256(other)}, not "):
            toolbox(tmp_path, families=[KUBERNETES], origin=Origin.RELEASE)


def test_a_recorded_checksum_serves_where_the_publisher_has_none_any_more(
    tmp_path: Path, released: Callable[[str], None]
) -> None:
    answers = _of_kubernetes()
    with publisher.publisher(answers) as server:
        released(server)
        toolbox(tmp_path, families=[KUBERNETES], origin=Origin.RELEASE)
        _delete(tmp_path, KUBERNETES)
        answers["/kube-scheduler.sha256"] = refuse(404)
        assert toolbox(tmp_path, families=[KUBERNETES], origin=Origin.RELEASE).path("kube-scheduler").exists()


def test_a_damaged_record_is_not_replaced_by_new_trust(tmp_path: Path, released: Callable[[str], None]) -> None:
    record = tmp_path / install.CHECKSUMS
    with publisher.publisher(_of_kubernetes()) as server:
        released(server)
        for text in ("{", "[]", '{"https://example.com": {}}', '{"https://example.com": "no row"}'):
            record.write_text(text)
            with pytest.raises(BuildFailed, match="is damaged; delete it"):
                toolbox(tmp_path, families=[KUBERNETES], origin=Origin.RELEASE)


def test_files_of_one_tool_count_as_one_download(tmp_path: Path, released: Callable[[str], None]) -> None:
    seen = list[Progress]()
    with publisher.publisher(_of_kubernetes()) as server:
        released(server)
        toolbox(tmp_path, seen.append, [KUBERNETES], Origin.RELEASE)
    size = sum(len(_content(KUBERNETES, command)) for command in KUBERNETES.commands.values())
    assert [each.finished for each in seen] == [False] * (len(seen) - 1) + [True]
    assert (seen[-1].done, seen[-1].total) == (size, size)
    assert [each.done for each in seen] == sorted(each.done for each in seen)
