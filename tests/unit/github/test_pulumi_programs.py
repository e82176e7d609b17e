"""Pulumi and its plugins: only archives with a recorded checksum are unpacked or run."""

from __future__ import annotations

import datetime
import hashlib
import io
import platform
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support.workflow_files import GITHUB, script

VERSIONS = {"pulumi": "3.259.0", "azure-native": "3.29.0", "kubernetes": "4.34.2", "random": "4.21.4"}
PULUMI = """#!/bin/sh
for word in "$@"; do printf '%s ' "$word" >> "$(dirname "$0")/calls"; done
echo >> "$(dirname "$0")/calls"
test -f "$7"
"""


class Publisher:
    """The publisher's archives as files, and the lists of their checksums."""

    def __init__(self, folder: Path, programs: Any) -> None:
        self.folder, self.programs = folder, programs
        for system, chip in programs.PLATFORMS:
            for archive in programs.archives(VERSIONS, system, chip):
                self.publish(archive, PULUMI)

    def publish(self, archive: Any, text: str) -> None:
        file = Path(archive.address.removeprefix("file://"))
        file.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(file, "w:gz") as packed:
            program = "pulumi/pulumi" if archive.plugin is None else f"pulumi-resource-{archive.plugin[0]}"
            member = tarfile.TarInfo(program)
            member.size, member.mode = len(text.encode()), 0o755
            packed.addfile(member, io.BytesIO(text.encode()))

    def list(self, *, wrong: bool = False) -> None:
        for system, chip in self.programs.PLATFORMS:
            for archive in self.programs.archives(VERSIONS, system, chip):
                if archive.plugin is None:
                    self.add(archive, wrong=wrong)

    def add(self, archive: Any, *, wrong: bool) -> None:
        found = hashlib.sha256(Path(archive.address.removeprefix("file://")).read_bytes()).hexdigest()
        with Path(archive.listed.removeprefix("file://")).open("a") as file:
            file.write(f"{'0' * 64 if wrong else found}  {archive.name}\n")

    @property
    def here(self) -> list[Any]:
        return list(self.programs.archives(VERSIONS, "linux", self.programs.machine()))


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    module: Any = script("pulumi_programs")
    monkeypatch.setattr(module, "RELEASES", f"file://{tmp_path / 'releases'}")
    monkeypatch.setattr(module, "SOURCES", f"file://{tmp_path / 'sources'}")
    monkeypatch.setattr(module, "versions", lambda: VERSIONS)
    (tmp_path / "checksums.toml").write_text("# what this is\n")
    monkeypatch.setattr(module, "CHECKSUMS", tmp_path / "checksums.toml")
    return module


@pytest.fixture
def publisher(programs: Any, tmp_path: Path) -> Publisher:
    return Publisher(tmp_path / "releases", programs)


pytestmark = pytest.mark.skipif(platform.system() != "Linux", reason="runners are Linux")


def test_what_is_not_recorded_is_refused_and_not_even_downloaded(
    programs: Any, publisher: Publisher, tmp_path: Path
) -> None:
    with pytest.raises(programs.Refused, match=r"no checksum of pulumi-v3\.259\.0.* is recorded"):
        programs.install(tmp_path / "bin")
    assert not (tmp_path / "bin").exists()


def test_what_is_recorded_is_installed_by_the_pulumi_that_was_verified(
    programs: Any, publisher: Publisher, tmp_path: Path
) -> None:
    publisher.list()
    programs.record()
    folder = programs.install(tmp_path / "bin")
    calls = (folder / "calls").read_text().splitlines()
    assert [line.split()[:6] for line in calls] == [
        ["plugin", "install", "resource", name, VERSIONS[name], "--file"] for name in programs.PROVIDERS
    ]


@pytest.mark.parametrize("place", range(4))
def test_another_archive_than_the_recorded_one_is_neither_unpacked_nor_run(
    programs: Any, publisher: Publisher, tmp_path: Path, place: int
) -> None:
    programs.record()
    publisher.publish(publisher.here[place], "#!/bin/sh\necho mine\n")
    with pytest.raises(programs.Refused, match=f"{publisher.here[place].name} has the sha256 .* is recorded"):
        programs.install(tmp_path / "bin")
    assert not (tmp_path / "bin").exists()


def test_a_record_says_how_it_is_known_and_keeps_what_it_has(programs: Any, publisher: Publisher) -> None:
    publisher.list()
    programs.record()
    rows = tomllib.loads(programs.CHECKSUMS.read_text())["archives"]
    assert len(rows) == 4 * len(programs.PLATFORMS)
    assert all(isinstance(row["date"], datetime.date) for row in rows.values())
    first = publisher.here[0]
    assert rows[first.name]["how"] == f"the publisher's list, {first.listed}"
    assert rows[publisher.here[1].name]["how"].startswith("first use")
    assert programs.CHECKSUMS.read_text().startswith("# what this is\n")
    for archive in publisher.here:
        publisher.publish(archive, "published again")
    programs.record()
    assert tomllib.loads(programs.CHECKSUMS.read_text())["archives"] == rows


def test_a_record_has_the_program_of_each_plugin_by_which_what_the_engine_installed_is_known(
    programs: Any, publisher: Publisher
) -> None:
    programs.record()
    rows = tomllib.loads(programs.CHECKSUMS.read_text())["archives"]
    assert {row["program"] for row in rows.values()} == {hashlib.sha256(PULUMI.encode()).hexdigest()}


def test_a_row_without_its_program_is_completed_from_the_recorded_archive_only(
    programs: Any, publisher: Publisher
) -> None:
    programs.record()
    old = "".join(line for line in programs.CHECKSUMS.read_text().splitlines(True) if "program =" not in line)
    programs.CHECKSUMS.write_text(old)
    programs.record()
    assert programs.CHECKSUMS.read_text().count("program =") == 4 * len(programs.PLATFORMS)
    programs.CHECKSUMS.write_text(old)
    publisher.publish(publisher.here[1], "#!/bin/sh\necho mine\n")
    with pytest.raises(programs.Refused, match="is recorded"):
        programs.record()


def test_an_archive_without_the_program_is_not_recorded(programs: Any, publisher: Publisher, tmp_path: Path) -> None:
    with tarfile.open(publisher.here[1].address.removeprefix("file://"), "w:gz"):
        pass
    with pytest.raises(programs.Refused, match=f"has no pulumi-resource-{programs.PROVIDERS[0]}"):
        programs.record()


def test_the_platform_of_a_persons_machine_is_recorded_and_kept_by_others(
    programs: Any, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs.platform, "system", lambda: "Darwin")
    own = ("darwin", programs.machine())
    assert programs.recorded_platforms({}) == programs.PLATFORMS | {own}
    row = {next(programs.archives(VERSIONS, "darwin", "arm64")).name: {}}
    monkeypatch.setattr(programs.platform, "system", lambda: "Linux")
    assert programs.recorded_platforms(row) == programs.PLATFORMS | {("darwin", "arm64")}


def test_an_archive_that_differs_from_its_publishers_list_is_not_recorded(programs: Any, publisher: Publisher) -> None:
    publisher.list(wrong=True)
    with pytest.raises(programs.Refused, match="its publisher's list"):
        programs.record()
    assert programs.CHECKSUMS.read_text() == "# what this is\n"


def test_an_address_that_does_not_answer_is_named(programs: Any, publisher: Publisher) -> None:
    Path(publisher.here[0].address.removeprefix("file://")).unlink()
    with pytest.raises(programs.Refused, match="could not be downloaded"):
        programs.record()


def test_the_committed_checksums_are_of_archives_that_deployments_download() -> None:
    module: Any = script("pulumi_programs")
    machines = [*module.PLATFORMS, ("darwin", "x64"), ("darwin", "arm64")]
    pinned = {each.name for machine in machines for each in module.archives(module.versions(), *machine)}
    rows: dict[str, dict[str, Any]] = tomllib.loads((GITHUB / "checksums.toml").read_text()).get("archives", {})
    assert set(rows) <= pinned, "of another version than is pinned: run `pulumi_programs.py record`"
    assert all(len(row["sha256"]) == len(row["program"]) == 64 and row["how"] for row in rows.values())


def test_the_pins_are_those_of_the_test() -> None:
    module: Any = script("pulumi_programs")
    assert set(module.versions()) == set(VERSIONS)
