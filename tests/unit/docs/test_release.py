"""The rehearsal of a release: what it makes of a commit, the same wherever and whenever it runs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from docs.generator.release import bom, changelog, contents, rehearsal
from docs.generator.release.dating import date
from docs.generator.release.left import left, notes_file
from docs.generator.release.problems import NotReleasable
from docs.generator.release.requirements import pins
from docs.generator.release.version import FOLLOWERS, SOURCE, released, write
from physical_ai.repository import ROOT
from tests.support import release_checkout
from tests.support.release_checkout import git

VERSION = "1.2.3"
WHEEL = f"physical_ai-{VERSION}-py3-none-any.whl"
FILES = [
    "RELEASE-NOTES.md",
    "SHA256SUMS",
    "physical-ai.cdx.json",
    WHEEL,
    f"physical_ai-{VERSION}.tar.gz",
    f"physical_ai_simulator-{VERSION}-py3-none-any.whl",
    f"physical_ai_simulator-{VERSION}.tar.gz",
    f"physical_ai_workbench-{VERSION}-py3-none-any.whl",
    f"physical_ai_workbench-{VERSION}.tar.gz",
]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release_checkout.write(tmp_path_factory.mktemp("release") / "checkout")


@pytest.fixture(scope="module")
def made(checkout: Path) -> Path:
    """Folder with the files of a release of the small checkout. No test changes it."""
    folder = checkout.parent / "files"
    assert [file.name for file in rehearsal.rehearse(checkout, folder).files] == FILES
    return folder


def test_the_notes_are_the_versions_section_and_the_checksums_those_of_all_files(made: Path) -> None:
    assert (made / "RELEASE-NOTES.md").read_text() == "### Added\n\n- A pool of GPUs.\n"
    lines = (line.split("  ") for line in (made / "SHA256SUMS").read_text().splitlines())
    listed = {name: digest for digest, name in lines}
    others = [made / name for name in FILES if name != "SHA256SUMS"]
    assert listed == {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in others}


def test_one_commit_gives_the_same_files_anywhere_at_any_time_and_no_server_is_asked(
    checkout: Path, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tag makes no difference, nor do files that git ignores, rights, times, or what an earlier rehearsal left."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "PIP_INDEX_URL", "UV_INDEX_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    other = tmp_path / "another" / "place"
    git(tmp_path, "clone", "--quiet", str(checkout), str(other))
    git(other, "tag", "-a", f"v{VERSION}", "-m", "x")
    (other / "physical_ai" / "__init__.py").chmod(0o600)
    os.utime(other / "physical_ai" / "__init__.py", (1, 1))
    dist = other / "dist"
    dist.mkdir()
    for name in ("physical_ai-1.2.2-py3-none-any.whl", "of-mine.txt"):
        (dist / name).write_text("ignored by git")
    before = os.umask(0o077)
    try:
        rehearsal.rehearse(other, dist, tag=f"v{VERSION}")
    finally:
        os.umask(before)
    assert {file.name for file in dist.iterdir()} == {*FILES, "of-mine.txt"}
    assert [name for name in FILES if (dist / name).read_bytes() != (made / name).read_bytes()] == []


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def changed(path: Path) -> None:
    """Changes a file of a wheel, so that it is not the one that RECORD has."""
    files = contents.read(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content + (b"# more\n" if name.endswith(".py") else b""))


def with_a_test(path: Path) -> None:
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("physical_ai/tests/test_x.py", "x = 1\n")


def with_newer_metadata(path: Path) -> None:
    files = contents.read(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, re.sub(rb"(?m)^Metadata-Version: \S+", b"Metadata-Version: 2.10", content))


def with_a_path(path: Path) -> None:
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("physical_ai/where.py", "X = '/builds/of/ada/x'\n")


@pytest.mark.parametrize(
    ("spoil", "name", "problem"),
    [
        (cut, WHEEL, "cannot be read"),
        (cut, f"physical_ai-{VERSION}.tar.gz", "cannot be read"),
        (emptied, WHEEL, "cannot be read"),
        (emptied, f"physical_ai-{VERSION}.tar.gz", "cannot be read"),
        (changed, WHEEL, "has physical_ai/__init__.py, which is not the file that RECORD has"),
        (with_a_test, WHEEL, "has physical_ai/tests/test_x.py, which is of a test"),
        (with_newer_metadata, WHEEL, "has metadata of version 2.10, and the action that publishes accepts up to 2.5"),
        (with_a_path, WHEEL, "has physical_ai/where.py with the path /builds/of/ada of this machine"),
    ],
)
def test_an_archive_that_nobody_should_get_is_found(
    made: Path, tmp_path: Path, spoil: Callable[[Path], None], name: str, problem: str
) -> None:
    path = Path(shutil.copy(made / name, tmp_path))
    machine = ["/builds/of/ada"]
    assert list(contents.problems(path, VERSION, machine)) == []
    assert list(contents.problems(path, "1.2.4", machine)) == ["is of version 1.2.3, and 1.2.4 is released"]
    spoil(path)
    assert any(problem in each for each in contents.problems(path, VERSION, machine))


def test_the_bill_of_materials_lists_distributions_packages_charts_and_images(made: Path) -> None:
    document: dict[str, Any] = json.loads((made / rehearsal.BILL).read_text())
    components = {each["bom-ref"]: each for each in document["components"]}
    digest = hashlib.sha256((made / WHEEL).read_bytes()).hexdigest()
    assert components["physical-ai"]["hashes"] == [{"alg": "SHA-256", "content": digest}]
    assert components["pypi:aiohttp"]["purl"] == "pkg:pypi/aiohttp@3.14.5"
    operator = components["chart:gpu-operator"]
    assert operator["licenses"] == [{"license": {"id": "Apache-2.0"}}]
    needs = {each["ref"]: each.get("dependsOn", []) for each in document["dependencies"]}
    assert needs["platform"] == ["physical-ai", "physical-ai-simulator", "physical-ai-workbench"]
    assert needs["physical-ai-workbench"] == ["physical-ai", "pypi:colorama"]
    assert needs["pypi:kubernetes"] == ["pypi:aiohttp"]
    assert f"image:nvcr.io/nvidia/gpu-operator:{operator['version']}" in needs["chart:gpu-operator"]
    assert any(ref.startswith("image:library/ubuntu@sha256:") for ref in components)


def test_the_bill_keeps_its_schema_and_another_document_does_not(made: Path) -> None:
    text = (made / rehearsal.BILL).read_text()
    assert bom.schema_problem(text) is None
    document: dict[str, Any] = json.loads(text)
    document["components"][0]["type"] = "thing"
    assert "thing" in str(bom.schema_problem(json.dumps(document)))


def test_pins_name_the_packages_that_need_them(tmp_path: Path) -> None:
    (tmp_path / "pins.txt").write_text(release_checkout.PINS)
    found = {pin.name: pin for pin in pins(tmp_path / "pins.txt")}
    assert found["aiohttp"].needed_by == ("kubernetes",)
    assert found["colorama"].marker == "sys_platform == 'win32'"
    assert found["colorama"].needed_by == ("physical-ai-workbench",)
    assert found["kubernetes"].needed_by == ("physical-ai",)


def test_the_packages_of_this_checkout_are_needed_by_something() -> None:
    known = pins(ROOT / bom.REQUIREMENTS)
    assert len(known) > 40
    assert [pin.name for pin in known if not pin.needed_by] == []


def test_a_rehearsal_before_the_day_of_the_release_says_what_is_left_and_one_command_writes_the_day(
    tmp_path: Path,
) -> None:
    checkout = release_checkout.write(tmp_path / "checkout")
    write(checkout, "1.3.0")
    notes = checkout / notes_file("1.3.0")
    notes.write_text("version: 1.3.0\ndate: null\n")
    release_checkout.commit(checkout, "Go on")
    made = rehearsal.rehearse(checkout, tmp_path / "files")
    assert [each.partition("\n")[0] for each in made.left] == ["CHANGELOG.md", f"{notes_file('1.3.0')}:2: date"]
    assert all("make version VERSION=1.3.0 DAY=" in each for each in made.left)
    assert "nobody has yet" in (tmp_path / "files" / "RELEASE-NOTES.md").read_text()
    git(checkout, "tag", "-a", "v1.3.0", "-m", "x")
    with pytest.raises(NotReleasable, match=r"It has no section about 1\.3\.0"):
        rehearsal.rehearse(checkout, tmp_path / "tagged", tag="v1.3.0")
    git(checkout, "tag", "--delete", "v1.3.0")

    with pytest.raises(NotReleasable, match="DAY=tomorrow\n  It is no day"):
        date(checkout, "1.3.0", "tomorrow")
    assert date(checkout, "1.3.0", "2026-12-31") == ["CHANGELOG.md", str(notes_file("1.3.0"))]
    assert date(checkout, "1.3.0", "2026-12-31") == []
    assert notes.read_text() == "version: 1.3.0\ndate: 2026-12-31\n"
    assert list(left(checkout, "1.3.0")) == []
    assert changelog.section(checkout, "1.3.0") == "- Something that nobody has yet.\n"
    with pytest.raises(NotReleasable, match="## Unreleased\n  The section has no entry"):
        changelog.unreleased(checkout)


def test_a_sentence_that_a_release_makes_wrong_and_an_action_that_nobody_compared_are_left(tmp_path: Path) -> None:
    checkout = release_checkout.write(tmp_path / "checkout")
    (checkout / "docs").mkdir()
    (checkout / "docs" / "use.md").write_text("# Use\n\nNothing has been released yet. Build it.\n")
    (checkout / ".github").mkdir()
    row = "[actions.'a/b']\nversion = 'v1'\ncommit = '12'\n"
    (checkout / ".github" / "actions.toml").write_text(f"{row}confirmed = false\n")
    sentence, action = left(checkout, VERSION)
    assert sentence.startswith("docs/use.md:3\n  It says 'Nothing has been released yet'.")
    assert "git ls-remote https://github.com/a/b 'refs/tags/v1*'` has to print 12" in action
    (checkout / "docs" / "use.md").write_text("# Use\n")
    (checkout / ".github" / "actions.toml").write_text(row)
    assert list(left(checkout, VERSION)) == []


def test_the_version_is_in_one_place_and_the_others_are_written_from_it(tmp_path: Path) -> None:
    checkout = release_checkout.write(tmp_path / "checkout")
    assert write(checkout, "2.0.0rc1") == [SOURCE, *FOLLOWERS]
    assert released(checkout) == "2.0.0rc1"
    assert 'dependencies = ["physical-ai==2.0.0rc1"]' in (checkout / FOLLOWERS[0]).read_text()
    assert write(checkout, "2.0.0rc1") == []
    with pytest.raises(NotReleasable, match="VERSION=2\n"):
        write(checkout, "2")


def test_the_three_distributions_of_this_checkout_have_one_version_and_the_licence() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+\w*", released(ROOT))
    licence = (ROOT / "LICENSE").read_bytes()
    assert all((ROOT / own / "LICENSE").read_bytes() == licence for own in ("workbench", "simulator"))
    assert changelog.unreleased(ROOT) or changelog.section(ROOT, released(ROOT))


@pytest.mark.deep  # in `make test`: a small checkout, and the files of wheels before they are packed
def test_this_checkout_gives_equal_archives_of_which_a_source_distribution_builds_the_same_wheel(
    tmp_path: Path,
) -> None:
    """All that is committed, so that the test runs in a checkout with changes, too."""
    clone = tmp_path / "a" / "clone"
    git(tmp_path, "clone", "--quiet", str(ROOT), str(clone))
    first = rehearsal.rehearse(clone, tmp_path / "first").files
    second = rehearsal.rehearse(clone, tmp_path / "second").files
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in second]
    unwanted = re.compile(r"(^|/)(tests|fixtures|golden)/|(^|/)test_\w+\.py$")
    archives = [file for file in first if file.suffix in (".whl", ".gz")]
    assert len(archives) == 6
    for file in archives:
        files = contents.read(file)
        assert [path for path in files if unwanted.search(path)] == [], file.name
        assert [path for path, text in files.items() if str(tmp_path).encode() in text] == [], file.name
        assert any(path.endswith("/LICENSE") for path in files), file.name
    for source in (file for file in archives if file.suffix == ".gz"):
        rebuilt = _wheel_of(source, tmp_path / "rebuilt")
        assert contents.read(rebuilt) == contents.read(tmp_path / "first" / rebuilt.name)


def _wheel_of(source: Path, folder: Path) -> Path:
    """Wheel that is built from a source distribution, as pip does where there is no wheel."""
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    unpacked = folder / source.name.removesuffix(".tar.gz")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=unpacked, check=True, capture_output=True)
    (wheel,) = folder.glob(f"{unpacked.name}-*.whl")
    return wheel
