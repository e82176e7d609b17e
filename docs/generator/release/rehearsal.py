"""All files of a release, made locally: archives, bill of materials, notes, checksums."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docs.generator.release import bom, building, changelog, checkout, contents
from docs.generator.release.left import left
from docs.generator.release.problems import NotReleasable
from docs.generator.release.version import released

BILL = "physical-ai.cdx.json"
CHECKSUMS = "SHA256SUMS"
NOTES = "RELEASE-NOTES.md"


@dataclass(frozen=True)
class Rehearsed:
    """A release as it would be published: its version and its files.

    Attributes:
        left: what has to be written before it can be tagged. With a tag, there is nothing.
    """

    version: str
    commit: checkout.Commit
    files: tuple[Path, ...]
    left: tuple[str, ...]


def rehearse(root: Path, folder: Path, *, tag: str = "") -> Rehearsed:
    """Makes the files of a release of the checkout `root`, and puts them into `folder`, whose older files of a release
    are removed. Nothing is published, and no server is asked. Before the change log has a section of the version, the
    notes are the entries that no release has yet.

    Args:
        root: the checkout.
        folder: folder of the files.
        tag: tag that must be of the commit; empty before the tag is made, when it must not exist.

    Raises NotReleasable if no release can be made of the checkout. `folder` is then as it was before.
    """
    commit = checkout.clean_commit(root)
    version = released(root)
    if tag:
        checkout.require_tag(commit, version, tag)
    else:
        checkout.require_no_tag(commit, version)
    missing = tuple(left(root, version))
    if tag and missing:
        raise NotReleasable("\n".join(missing))
    notes = changelog.section(root, version) if changelog.has_section(root, version) else changelog.unreleased(root)
    with tempfile.TemporaryDirectory(prefix="physical-ai-release-") as scratch:
        exported, made = commit.export(Path(scratch) / "commit"), Path(scratch) / "made"
        made.mkdir()
        archives = building.build(commit, exported, made)
        for archive in archives:
            for problem in contents.problems(archive, version, _paths_of_machine(root, exported)):
                raise NotReleasable(f"{archive.name}\n  It {problem}.")
        texts = {BILL: bom.document(commit, exported, version, archives), NOTES: notes}
        for name, text in texts.items():
            (made / name).write_text(text, encoding="utf-8")
        (made / CHECKSUMS).write_text(_checksums(made), encoding="utf-8")
        return Rehearsed(version, commit, tuple(_moved(made, folder)), missing)


def digest(file: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _checksums(folder: Path) -> str:
    """Text that `sha256sum --check` reads."""
    return "".join(f"{digest(file)}  {file.name}\n" for file in sorted(folder.iterdir()))


def _paths_of_machine(root: Path, exported: Path) -> list[str]:
    """Paths that only the building machine has. A path of one folder, such as /src, is no such path: others have it."""
    own = {str(root.resolve()), str(exported), str(exported.resolve()), sys.prefix}
    return sorted(path for path in own if len(Path(path).parts) > 2)


def _moved(made: Path, folder: Path) -> Iterator[Path]:
    """Replaces what an earlier rehearsal has left in `folder` by the files in `made`."""
    folder.mkdir(parents=True, exist_ok=True)
    for pattern in ("physical_ai*", BILL, NOTES, CHECKSUMS):
        for file in folder.glob(pattern):
            file.unlink()
    for file in sorted(made.iterdir()):
        yield Path(shutil.move(file, folder / file.name))
