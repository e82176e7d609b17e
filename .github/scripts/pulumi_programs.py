"""Pulumi, its language host and the provider plugins, from archives whose checksums .github/checksums.toml records.

    pulumi_programs.py install FOLDER   for a job, and for a machine from which a person deploys; prints the folder for
                                        PATH. An archive without a recorded checksum, or with another one, is an
                                        error: nothing of it is unpacked or run
    pulumi_programs.py record           what a person does once for each version, to commit the result: downloads each
                                        archive and compares it with its publisher's list of checksums, if it has one.
                                        Of the runners' platforms, and of this machine's

These programs get the deploying identity's login, and no module proxy has them. On a person's machine the engine also
installs plugins by itself, which components/downloads.py compares with the checksums of their programs recorded here.
"""

from __future__ import annotations

import datetime
import hashlib
import platform
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from physical_ai.catalog import plugins

CHECKSUMS = plugins.CHECKSUMS
PROVIDERS = ("azure-native", "kubernetes", "random")
RELEASES, SOURCES = "https://get.pulumi.com/releases", "https://github.com/pulumi"
PLATFORMS = {("linux", "x64"), ("linux", "arm64")}
"""Platforms of runners: those that GitHub hosts, and pools of a stack. A person's machine may be of another."""
LARGEST = 1 << 30
HEAD = "# SHA-256 of the archives of Pulumi and its provider plugins, of the program in each, and how each is known."
"""Beginning of a file that is new."""


class Refused(Exception):
    """An archive that must not be used; the text says why and what to do."""


class Archive(NamedTuple):
    """`listed` is the publisher's list of checksums, which not every archive has."""

    name: str
    address: str
    listed: str
    plugin: tuple[str, str] | None = None


def machine() -> str:
    return {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def versions() -> dict[str, str]:
    """Versions of the installed Pulumi packages, by program. A provider's program and its Python package have one
    version.
    """
    return {name: version(f"pulumi-{name}") for name in PROVIDERS} | {"pulumi": version("pulumi")}


def archives(pins: Mapping[str, str], system: str, chip: str) -> Iterator[Archive]:
    """Archives that a job on this platform downloads, Pulumi's first."""
    own = pins["pulumi"]
    name = f"pulumi-v{own}-{system}-{chip}.tar.gz"
    # Source of the address of the checksums: pulumi/actions v7.0.0, src/libs/libs/get-version.ts.
    yield Archive(name, f"{RELEASES}/sdk/{name}", f"{RELEASES}/sdk/pulumi-{own}-checksums.txt")
    for provider in PROVIDERS:
        pin = pins[provider]
        name = f"pulumi-resource-{provider}-v{pin}-{system}-{'amd64' if chip == 'x64' else chip}.tar.gz"
        listed = f"{SOURCES}/pulumi-{provider}/releases/download/v{pin}/pulumi-{provider}_{pin}_checksums.txt"
        yield Archive(name, f"{RELEASES}/plugins/{name}", listed, (provider, pin))


def recorded() -> dict[str, dict[str, Any]]:
    return plugins.recorded(CHECKSUMS)


def download(address: str, file: Path) -> str:
    """Writes what an address has to a file; its SHA-256. Raises Refused."""
    found = hashlib.sha256()
    try:
        with urllib.request.urlopen(address, timeout=60) as answer, file.open("wb") as out:  # noqa: S310 - pinned
            while part := answer.read(1 << 20):
                found.update(part)
                out.write(part)
                if out.tell() > LARGEST:
                    raise Refused(f"{address} is larger than {LARGEST} bytes")
    except (OSError, ValueError) as problem:
        raise Refused(f"{address} could not be downloaded: {problem}") from None
    return found.hexdigest()


def verified(archive: Archive, known: Mapping[str, Mapping[str, Any]], folder: Path) -> Path:
    """The archive's file, if it is the recorded one. Raises Refused, and then there is no file."""
    row = known.get(archive.name)
    if row is None:
        raise Refused(
            f"no checksum of {archive.name} is recorded, and a job trusts no first download. On your machine: "
            f"{plugins.RECORD}"
        )
    file = folder / archive.name
    found = download(archive.address, file)
    if found != row["sha256"]:
        file.unlink()
        raise Refused(f"{archive.address} has the sha256 {found}, and {row['sha256']} is recorded. Find out why")
    return file


def install(folder: Path) -> Path:
    """Unpacks Pulumi, and gives it the plugins; the folder with its commands."""
    known = recorded()
    with tempfile.TemporaryDirectory() as scratch:
        pulumi, *plugins = (verified(each, known, Path(scratch)) for each in _here())
        with tarfile.open(pulumi) as packed:
            packed.extractall(folder, filter="data")
        command = folder / "pulumi" / "pulumi"
        for archive, file in zip(list(_here())[1:], plugins, strict=True):
            assert archive.plugin is not None
            words = [str(command), "plugin", "install", "resource", *archive.plugin, "--file", str(file)]
            subprocess.run(words, check=True, stdout=sys.stderr)
    return command.parent


def _here() -> Iterator[Archive]:
    return archives(versions(), platform.system().lower(), machine())


def listed(archive: Archive) -> str | None:
    """The archive's checksum in its publisher's list; None where there is no list, or it is not in it."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "checksums.txt"
        try:
            download(archive.listed, file)
        except Refused:
            return None
        rows = [line.split() for line in file.read_text(encoding="utf-8", errors="replace").splitlines()]
    return next((row[0].lower() for row in rows if len(row) == 2 and row[1].lstrip("*./") == archive.name), None)


def record() -> None:
    """Records what is not recorded yet, and forgets other versions. Raises Refused."""
    known, rows = recorded(), dict[str, dict[str, Any]]()
    for system, chip in sorted(recorded_platforms(known)):
        for archive in archives(versions(), system, chip):
            row = known.get(archive.name)
            rows[archive.name] = row if row and row.get("program") else _first(archive, row)
            print(f"{archive.name}  {rows[archive.name]['sha256']}  {rows[archive.name]['how']}", file=sys.stderr)
    head = (
        HEAD if not CHECKSUMS.exists() else CHECKSUMS.read_text(encoding="utf-8").partition("\n[archives")[0].rstrip()
    )
    lines = [
        f'[archives."{name}"]\nsha256 = "{row["sha256"]}"\nprogram = "{row["program"]}"\nhow = "{row["how"]}"\n'
        f"date = {row['date']}\n"
        for name, row in rows.items()
    ]
    CHECKSUMS.parent.mkdir(parents=True, exist_ok=True)
    CHECKSUMS.write_text("\n\n".join([head, "\n".join(lines)]), encoding="utf-8")


def recorded_platforms(known: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Platforms of runners, of this machine, and of the machines of others who have recorded theirs."""
    own = versions()
    others = {(system, chip) for system in ("linux", "darwin") for chip in ("x64", "arm64")}
    have = {each for each in others if any(archive.name in known for archive in archives(own, *each))}
    return PLATFORMS | have | {(platform.system().lower(), machine())}


def _first(archive: Archive, before: Mapping[str, Any] | None) -> dict[str, Any]:
    """The row of an archive; `before` is one that lacks the checksum of the program."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / archive.name
        found = download(archive.address, file)
        if before and before["sha256"] != found:
            raise Refused(f"{archive.address} has the sha256 {found}, and {before['sha256']} is recorded. Find out why")
        program = _program(archive, file)
    told = listed(archive)
    if told is not None and told != found:
        raise Refused(f"{archive.address} has the sha256 {found}, and its publisher's list {archive.listed} has {told}")
    how = f"the publisher's list, {archive.listed}" if told else "first use: no list has it"
    return {"sha256": found, "program": program, "how": how, "date": datetime.datetime.now(datetime.UTC).date()}


def _program(archive: Archive, file: Path) -> str:
    """SHA-256 of the program that the archive is about. Raises Refused."""
    name = f"pulumi-resource-{archive.plugin[0]}" if archive.plugin else "pulumi/pulumi"
    with tarfile.open(file) as packed:
        member = next((each for each in packed if each.isfile() and each.name.removeprefix("./") == name), None)
        content = packed.extractfile(member) if member else None
        if content is None:
            raise Refused(f"{archive.address} has no {name}")
        found = hashlib.sha256()
        while part := content.read(1 << 20):
            found.update(part)
    return found.hexdigest()


def main() -> int:
    try:
        if sys.argv[1:] == ["record"]:
            record()
        else:
            verb, folder = sys.argv[1:]
            assert verb == "install", verb
            print(install(Path(folder)))
    except Refused as problem:
        print(f"::error::{problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
