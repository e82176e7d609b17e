"""State of the Git checkout that a release is made of: its commit, changes, tags."""

from __future__ import annotations

import io
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from docs.generator.release.problems import NotReleasable

SHOWN = 5
"""Number of changed files that an error lists."""
GIT_SECONDS = 120


@dataclass(frozen=True)
class Commit:
    """The commit that a release is made of.

    Attributes:
        sha: its full name.
        time: its time, in seconds since 1970.
    """

    root: Path
    sha: str
    time: int

    def export(self, folder: Path) -> Path:
        """Writes the commit's files, and no others, into `folder`, and returns it."""
        packed = _bytes(self.root, "archive", "--format=tar", self.sha)
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder, filter="data")
        return folder


def clean_commit(root: Path) -> Commit:
    """Commit that is checked out in `root`.

    Raises NotReleasable if `root` is no Git checkout, has changes that are in no commit, or is a shallow clone, which
    may lack tags.
    """
    if not (root / ".git").exists():
        raise NotReleasable(f"{root}\n  It is no Git checkout, and a release is made of a commit.\n  Clone it.")
    sha = _git(root, "rev-parse", "--verify", "HEAD^{commit}")
    if changed := _git(root, "status", "--porcelain", "--untracked-files=all").splitlines():
        more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
        listed = ", ".join(line.strip() for line in changed[:SHOWN])
        raise NotReleasable(
            f"{root}\n  Changes are in no commit: {listed}{more}.\n  Commit them, or remove them: git status"
        )
    if _git(root, "rev-parse", "--is-shallow-repository") == "true":
        raise NotReleasable(
            f"{root}\n  The clone is shallow, so tags may be missing.\n  Complete it: git fetch --unshallow --tags"
        )
    return Commit(root, sha, int(_git(root, "log", "-1", "--format=%ct", sha)))


def require_no_tag(commit: Commit, version: str) -> None:
    """Raises NotReleasable if the tag of `version` exists."""
    if tagged := _commit_of(commit.root, f"v{version}"):
        raise NotReleasable(
            f"v{version}\n  The tag exists already, of commit {tagged[:12]}: this version was released.\n"
            "  Write the next version: make version VERSION=…"
        )


def require_tag(commit: Commit, version: str, tag: str) -> None:
    """Raises NotReleasable unless `tag` is the annotated tag of `version`, and of the commit."""
    if tag != f"v{version}":
        raise NotReleasable(
            f"{tag}\n  The version is {version}, whose tag is v{version}.\n  Tag v{version}, or change it."
        )
    tagged = _commit_of(commit.root, tag)
    if tagged is None:
        raise NotReleasable(f"{tag}\n  The tag is missing in this clone.\n  Fetch it: git fetch origin tag {tag}")
    if tagged != commit.sha:
        problem = f"It is of commit {tagged[:12]}, and {commit.sha[:12]} is checked out."
        raise NotReleasable(f"{tag}\n  {problem}\n  Check it out: git checkout {tag}")
    if _git(commit.root, "cat-file", "-t", f"refs/tags/{tag}") != "tag":
        fix = f"git tag --delete {tag} && git tag --sign {tag} -m {tag}"
        raise NotReleasable(f"{tag}\n  It has no author and no signature.\n  Make it again, signed: {fix}")


def _commit_of(root: Path, tag: str) -> str | None:
    """Commit of a tag; None if there is no such tag."""
    listed = _git(root, "tag", "--list", tag)
    return _git(root, "rev-parse", "--verify", f"refs/tags/{tag}^{{commit}}") if listed == tag else None


def _git(root: Path, *arguments: str) -> str:
    return _bytes(root, *arguments).decode("utf-8", "replace").strip()


def _bytes(root: Path, *arguments: str) -> bytes:
    """Output of a command of git. Raises NotReleasable if there is no git, or it fails."""
    command = ["git", "-C", str(root), *arguments]
    try:
        return subprocess.run(command, capture_output=True, check=True, timeout=GIT_SECONDS).stdout
    except FileNotFoundError:
        raise NotReleasable("git\n  It is not installed, and a release is made of a commit.\n  Install it.") from None
    except subprocess.TimeoutExpired:
        raise NotReleasable(f"git {arguments[0]}\n  It has not ended within {GIT_SECONDS} s.\n  Try again.") from None
    except subprocess.CalledProcessError as problem:
        said = problem.stderr.decode("utf-8", "replace").strip().splitlines()
        raise NotReleasable(f"git {' '.join(arguments)}\n  {said[-1] if said else 'It failed.'}") from None
