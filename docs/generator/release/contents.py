"""Check of the built archives: complete, of one version, with a licence, and without tests or paths of this machine."""

from __future__ import annotations

import base64
import csv
import hashlib
import re
import tarfile
import zipfile
from collections.abc import Collection, Iterator, Mapping
from email.parser import BytesParser
from pathlib import Path

NOT_FOR_USERS = re.compile(r"(^|/)(tests?|fixtures?|golden)/|(^|/)(test_|conftest)[^/]*\.py$|(^|/)__pycache__/|\.pyc$")
"""Paths of tests, of their data, and of compiled modules."""
METADATA = (".dist-info/METADATA", "/PKG-INFO")
NEWEST = (2, 5)
"""Newest version of metadata that the action which publishes accepts, by `.github/actions.toml`. It refuses newer ones
when the tag has been pushed, so the rehearsal does.
"""


def problems(archive: Path, version: str, machine: Collection[str]) -> Iterator[str]:
    """Reasons not to publish a wheel or a source distribution.

    Args:
        archive: the wheel or source distribution.
        version: version that its metadata must have.
        machine: paths of the machine that built it, none of which may be in a file.
    """
    try:
        files = read(archive)
    except (OSError, EOFError, zipfile.BadZipFile, tarfile.TarError, ValueError) as problem:
        yield f"cannot be read: {problem}"
        return
    yield from (f"has {path}, which is of a test" for path in files if NOT_FOR_USERS.search(path))
    for path, content in files.items():
        yield from (f"has {path} with the path {each} of this machine" for each in machine if each.encode() in content)
    yield from _metadata_problems(files, version)
    if archive.suffix == ".whl":
        yield from _record_problems(files)


def read(archive: Path) -> dict[str, bytes]:
    """Content of each file in a wheel or source distribution, by path.

    Raises the errors of `zipfile` and `tarfile`, and ValueError for a file of neither kind.
    """
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist() if not name.endswith("/")}
    if not archive.name.endswith(".tar.gz"):
        raise ValueError("it is neither a wheel nor a source distribution")
    with tarfile.open(archive) as packed:
        return {each.name: _content(packed, each) for each in packed.getmembers() if not each.isdir()}


def _content(packed: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    content = packed.extractfile(member)
    if content is None:
        raise ValueError(f"{member.name} is no regular file")
    return content.read()


def _metadata_problems(files: Mapping[str, bytes], version: str) -> Iterator[str]:
    found = [content for path, content in files.items() if path.endswith(METADATA)]
    if len(found) != 1:
        yield f"has {len(found)} files with metadata"
        return
    fields = BytesParser().parsebytes(found[0])
    if (form := _numbers(fields["Metadata-Version"])) > NEWEST:
        yield f"has metadata of version {_dotted(form)}, and the action that publishes accepts up to {_dotted(NEWEST)}"
    if fields["Version"] != version:
        yield f"is of version {fields['Version']}, and {version} is released"
    named = fields.get_all("License-File", [])
    if not named or not any(path.endswith(f"/{name}") for name in named for path in files):
        yield "has no licence"


def _numbers(text: str | None) -> tuple[int, ...]:
    return tuple(int(each) for each in (text or "").split(".") if each.isdecimal())


def _dotted(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, numbers))


def _record_problems(files: Mapping[str, bytes]) -> Iterator[str]:
    """Differences between a wheel's files and the wheel's own list of their digests."""
    listed = next((content for path, content in files.items() if path.endswith(".dist-info/RECORD")), None)
    if listed is None:
        yield "has no RECORD"
        return
    digests = {path: digest for path, digest, _ in csv.reader(listed.decode().splitlines())}
    for path, content in files.items():
        found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        if not path.endswith(".dist-info/RECORD") and digests.get(path) != f"sha256={found}":
            yield f"has {path}, which is not the file that RECORD has"
