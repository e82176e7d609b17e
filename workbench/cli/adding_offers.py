"""Additions to the catalogue: reads Azure's answers about VM sizes, prices and regions from files, checks the new rows,
and writes them.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from physical_ai.untrusted.text import printable
from workbench.cli.console import err, print_json
from workbench.cli.exit_codes import BAD_INPUT, FAILED

if TYPE_CHECKING:
    from physical_ai.catalog.offers import Offers
    from physical_ai.subscription.offered import Found, Origin

LARGEST_MIB = 128
"""Maximum size in MiB of a file with Azure's answer. A list of all VM sizes in all regions has about 100 MiB."""
FACTS = ("model", "product", "memoryGib", "share", "virtual", "pci", "hostMig", "rayTracing", "driverSources")
OTHERS = ("osSkus", "mig", "infiniband")
_LISTS, _NUMBERS = ("driverSources", "osSkus"), ("memoryGib",)
_FLAGS = ("virtual", "hostMig", "rayTracing", "mig", "infiniband")


def add_sizes(
    file: Path,
    prices: Path | None,
    wanted: Sequence[str],
    facts: Sequence[str],
    like: str | None,
    *,
    dry_run: bool,
    json: bool,
) -> None:
    from physical_ai.catalog import UnknownName, regions, vm_size, vm_sizes
    from physical_ai.subscription.offered import Refused, offered_prices, offered_sizes

    given = _facts(facts)
    try:
        model = vm_size(like) if like else None
    except UnknownName as problem:
        raise typer.BadParameter(str(problem), param_hint="--like") from None
    answer, origin = _answer(file, "az vm list-skus")
    try:
        found = offered_sizes(answer, wanted, given, model, origin)
    except Refused as problem:
        _refuse(file, problem)
    if prices is not None:
        answer, origin = _answer(prices, "Azure Retail Prices API")
        try:
            more = offered_prices(answer, [*vm_sizes(), *wanted], list(regions()), origin)
        except Refused as problem:
            _refuse(prices, problem)
        found.offers = found.offers.plus(more.offers)
        found.notes += more.notes
    _finish(found, dry_run=dry_run, json=json)


def add_region(file: Path, name: str | None, utc_offset: str | None, *, dry_run: bool, json: bool) -> None:
    from physical_ai.subscription.offered import Refused, offered_region

    if name is None or utc_offset is None:
        option = "--name" if name is None else "--utc-offset"
        what = (
            "the region's name" if name is None else "the region's standard time, such as +01:00: Azure does not say it"
        )
        raise typer.BadParameter(f"--add needs {what}", param_hint=option)
    answer, origin = _answer(file, "az account list-locations")
    try:
        found = offered_region(answer, name, utc_offset, origin)
    except Refused as problem:
        _refuse(file, problem)
    _finish(found, dry_run=dry_run, json=json)


def _finish(found: Found, *, dry_run: bool, json: bool) -> None:
    """Checks the new rows together with the catalogue's, prints them, and writes them unless `dry_run`."""
    from physical_ai.catalog.load import CatalogError, prices_with, regions_with, sizes_with
    from physical_ai.catalog.offers import FILE, seen_offers, write

    whole = seen_offers().plus(found.offers)
    try:
        sizes = sizes_with(whole)
        prices_with(whole, sizes, regions_with(whole, sizes))
    except CatalogError as problem:
        err.print(f"{problem}\nnothing was written", style="red", markup=False)
        raise typer.Exit(BAD_INPUT) from None
    for note in found.notes:
        err.print(f"note: {printable(note)}", markup=False, style="yellow")
    if found.offers and not dry_run:
        try:
            write(whole)
        except OSError as problem:
            text = f"{FILE} cannot be written: {problem.strerror}; nothing was written"
            err.print(text, style="red", markup=False)
            raise typer.Exit(FAILED) from None
    written = bool(found.offers) and not dry_run
    if json:
        print_json({"written": written, "file": FILE.name, "rows": _document(found.offers), "notes": found.notes})
        return
    _print(found.offers)
    if written:
        print(f"written: {FILE.name}, beside the catalogue's tables. Review the change, then run: physai schema")
    elif not found.offers:
        print("nothing to add: the catalogue has all of it")


def _print(offers: Offers) -> None:
    for size in offers.sizes:
        gpu = size.get("gpu")
        with_gpu = f", {gpu['count']} × {gpu['model']}" if gpu else ""
        own = size["sizes"][0]
        print(f"size     {own['name']}: {own['vcpus']} vCPU, {own['memoryGib']} GiB{with_gpu}, family {size['family']}")
    for region in offers.regions:
        print(f"region   {region['name']} ({region['display']}), zones {', '.join(region['zones']) or 'none'}")
    for each in offers.listings:
        print(f"listing  {each['size']} in {each['region']}, seen in zones {', '.join(each['seenZones']) or 'none'}")
    for feed in offers.prices:
        for size, by_region in feed["usdPerHour"].items():
            print(f"prices   {size}: {', '.join(f'{region} {usd:g}' for region, usd in by_region.items())}")


def _document(offers: Offers) -> dict[str, Any]:
    from physical_ai.catalog.offers import KEYS

    return json.loads(json.dumps({key: getattr(offers, key) for key in KEYS}, default=str))


def _facts(texts: Sequence[str]) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or key not in (*FACTS, *OTHERS):
            raise typer.BadParameter(f"'{key}' is none of {', '.join((*FACTS, *OTHERS))}", param_hint="--fact")
        if key in _LISTS:
            found[key] = [each.strip() for each in value.split(",")]
        elif key in _FLAGS:
            if value not in ("true", "false"):
                raise typer.BadParameter(f"{key} is true or false", param_hint="--fact")
            found[key] = value == "true"
        elif key in _NUMBERS:
            if not value.isdecimal() or len(value) > 6:
                raise typer.BadParameter(f"{key} is a whole number", param_hint="--fact")
            found[key] = int(value)
        else:
            found[key] = value
    return found


def _answer(file: Path, what: str) -> tuple[Any, Origin]:
    """Azure's answer in the file, parsed, with its origin. Ends the command if the file has no such answer."""
    from physical_ai.subscription.offered import Origin

    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                _refuse(file, "It is not a regular file.")
            if status.st_size > LARGEST_MIB << 20:
                _refuse(file, f"It has more than {LARGEST_MIB} MiB. Ask for one region: az vm list-skus -l REGION")
            content = opened.read(status.st_size)
    except OSError as problem:
        _refuse(file, f"It cannot be read: {problem.strerror}.")
    try:
        answer = json.loads(content.decode("utf-8-sig"), parse_constant=_no_constant)
    except UnicodeDecodeError:
        _refuse(file, "It is not UTF-8 text.")
    except RecursionError:
        _refuse(file, "Its values are nested too deeply to be an answer of Azure.")
    except ValueError as problem:
        place = f", line {problem.lineno}" if isinstance(problem, json.JSONDecodeError) else ""
        _refuse(file, f"It is no JSON{place}: cut, or a page of a proxy. Save the answer of {what} with -o json.")
    digest = hashlib.sha256(content).hexdigest()[:12]
    return answer, Origin(f"{what}, an answer with SHA-256 {digest}", datetime.datetime.now(datetime.UTC).date())


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _refuse(file: Path, problem: object) -> NoReturn:
    err.print(f"{file}: {printable(str(problem))}\nnothing was written", style="red", markup=False, soft_wrap=True)
    raise typer.Exit(BAD_INPUT)
