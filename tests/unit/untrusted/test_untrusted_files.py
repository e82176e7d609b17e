"""Files of unknown origin: what is read, and what is not even opened."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from physical_ai.untrusted.files import LARGEST, Missing, NotText, Unreadable, below, read_text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("hidden")
    inside = tmp_path / "inside"
    inside.mkdir()
    return inside


def test_text_is_read_with_line_ends_of_one_kind(folder: Path) -> None:
    (folder / "a.yaml").write_bytes("ä\r\nb\rc\n".encode())
    assert read_text(folder / "a.yaml") == "ä\nb\nc\n"


def test_a_link_is_followed_only_below_the_folder(folder: Path) -> None:
    (folder / "a.txt").write_text("a")
    (folder / "near.txt").symlink_to("a.txt")
    (folder / "far.txt").symlink_to("../secret.txt")
    (folder / "up").symlink_to("..")
    assert read_text(folder / "near.txt") == "a"
    for name in ("far.txt", "up/secret.txt", "up/inside/../secret.txt"):
        with pytest.raises(Unreadable, match="leads out of its folder"):
            read_text(folder / name, within=folder)


def test_only_regular_files_are_read(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    for path, within in ((folder / "pipe", folder), (folder, folder), (Path("/dev/zero"), Path("/"))):
        with pytest.raises(Unreadable, match="not a regular file"):
            read_text(path, within=within)


def test_a_file_of_the_kernel_has_no_content() -> None:
    assert read_text(Path("/proc/self/environ"), within=Path("/")) == ""


def test_the_credentials_of_a_checkout_are_not_read(folder: Path) -> None:
    for name in (".git", "sub/.GIT"):
        (folder / name).mkdir(parents=True)
        (folder / name / "config").write_text("token")
        with pytest.raises(Unreadable, match="are not read"):
            read_text(folder / name / "config", within=folder)


def test_the_size_is_limited(folder: Path) -> None:
    with (folder / "large").open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(Unreadable, match="larger than 4 MiB"):
        read_text(folder / "large")


def test_a_missing_file_and_a_binary_file_are_distinguished(folder: Path) -> None:
    (folder / "binary").write_bytes(b"\xff")
    with pytest.raises(NotText):
        read_text(folder / "binary")
    with pytest.raises(Missing):
        read_text(folder / "absent")
    with pytest.raises(Missing):
        read_text(folder / "binary" / "below")
    (folder / "loop").symlink_to("loop")
    with pytest.raises(Unreadable):
        read_text(folder / "loop")


@pytest.mark.parametrize("name", ["", "/etc/passwd", "..", "../x", "a/../../x", "a\0b"])
def test_a_name_that_leads_out_is_refused_before_anything_is_opened(folder: Path, name: str) -> None:
    with pytest.raises(Unreadable, match="only files below"):
        below(folder, name)


def test_a_name_below_the_folder_is_a_path(folder: Path) -> None:
    assert below(folder, "a/../b.txt") == folder / "a/../b.txt"
