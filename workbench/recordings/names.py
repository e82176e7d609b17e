"""Consistent replacement of names and ids that identify a person, a subscription or a machine. Pure functions.

A name has the same replacement everywhere in a recording, also within texts. A text that already looks like a
replacement is kept, and is not used as the replacement of another name, so a second replacement changes nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable
from itertools import chain, count
from typing import Any, cast

from workbench.recordings import addresses, hosts, users
from workbench.recordings.collecting import AKS_HASH, DASHLESS, GUID, MAIL, Found, dashed
from workbench.recordings.form import Entry
from workbench.recordings.interfaces import Interfaces

WORD = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?")
_MOST_PARTS = 64
"""Maximum number of parts of a word, separators such as `-` included, that are joined and compared with one name."""
KINDS = ("ids", "addresses", "hosts", "nodes", "names", "users", "mail")


class Replacer:
    """Replacer of names in one recording. It collects the names from all entries, and then replaces them in
    each value.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._guids: dict[str, str] = {}
        self._words: dict[str, str] = {}
        self._hashes: dict[str, str] = {}
        self._mails: dict[str, str] = {}
        self._phrases: dict[str, str] = {}
        self._short_users: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        found = Found()
        for entry in entries:
            found.collect(entry)
        found.finish()
        self._addresses = addresses.Addresses(found.addresses)
        self._interfaces = Interfaces(found.interfaces)
        self.counts["addresses"] = self._addresses.replaced + self._interfaces.replaced
        self._fill(self._guids, found.guids, found.texts, "00000000-0000-4000-8000-{:012d}", "ids")
        self._fill(self._mails, found.mails, found.texts, "user-{:04d}@example.com", "mail")
        self._fill(self._hashes, found.hashes, found.texts, "1000{:04d}", "nodes")
        self._fill(self._words, found.nodes, found.texts, "host-{:04d}", "nodes")
        people = [each for each in found.users if each not in found.platform]
        self._fill(self._words, people, found.texts, "user-{:04d}", "users")
        for further, given in ((self._phrases, found.phrases), (self._short_users, found.short_users)):
            taken = {*found.texts, *self._words.values(), *self._phrases.values()}
            self._fill(further, given, taken, "user-{:04d}", "users")
        self._fill(self._words, found.names, found.texts, "name{:04d}", "names")
        zones: dict[str, str] = {}
        for host in sorted(found.hosts, key=lambda each: each.count(".")):  # a zone before the hosts in it
            self._fill(self._words, {host: None}, found.texts, f"h{{:04d}}{hosts.suffix(host, zones)}", "hosts")
            zones[host] = self._words.get(host, host)
        for short, whole in found.short_names():
            self._words.setdefault(short, self._words[whole].split(".")[0])
        for each, given in list(self._words.items()):
            self._words.setdefault(each.lower(), given)
        self._firsts = {re.split(r"[-._]", each)[0] for each in self._words}
        longest = sorted(map(re.escape, self._phrases), key=len, reverse=True)
        self._phrase = re.compile(rf"(?<!\w)(?:{'|'.join(longest)})(?!\w)") if longest else None
        self._memo: dict[str, str] = {}

    def _fill(self, into: dict[str, str], found: Iterable[str], texts: Iterable[str], form: str, kind: str) -> None:
        head, _, tail = form.partition("{")
        tail = tail.partition("}")[2]
        own = re.compile(rf"{re.escape(head)}\d{{4,}}{re.escape(tail)}")
        taken = {each for each in texts if own.fullmatch(each)}
        number = 0
        used = set(into.values()) | taken
        for each in found:
            if each in into or own.fullmatch(each):
                continue
            number += 1
            while form.format(number) in used:
                number += 1
            into[each] = form.format(number)
            self.counts[kind] += 1

    def __call__(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self(each) for each in cast("list[Any]", value)]
        if isinstance(value, dict):
            found: dict[str, Any] = {}
            for key, each in cast("dict[str, Any]", value).items():
                is_short = isinstance(each, str) and each in self._short_users and users.is_user(key, each)
                found[numbered(self.text(key), found)] = self._short_users[each] if is_short else self(each)
            return found
        return value

    def text(self, value: str) -> str:
        found = self._memo.get(value)
        if found is None:
            found = self._memo[value] = self._replaced(value)
        return found

    def _replaced(self, value: str) -> str:
        text = MAIL.sub(lambda each: self._mails.get(each[0], each[0]), value)
        text = GUID.sub(lambda each: self._guids.get(each[0].lower(), each[0]), text)
        text = DASHLESS.sub(self._dashless, text)
        text = AKS_HASH.sub(lambda each: self._hashes.get(each[0], each[0]), text)
        if self._phrase is not None:
            text = self._phrase.sub(lambda each: self._phrases[each[0]], text)
        if self._words:
            text = WORD.sub(self._word, text)
        return self._interfaces.text(self._addresses.text(text))

    def _dashless(self, found: re.Match[str]) -> str:
        given = self._guids.get(dashed(found[0]).lower())
        return found[0] if given is None else given.replace("-", "")

    def _given(self, word: str) -> str | None:
        return self._words.get(word) or self._words.get(word.lower())

    def _word(self, found: re.Match[str]) -> str:
        word = found[0]
        if (given := self._given(word)) is not None:
            return given
        parts = re.split(r"([-._])", word)
        if self._firsts.isdisjoint({*parts[::2], *(each.lower() for each in parts[::2])}):
            return word
        out: list[str] = []
        at_ = 0
        while at_ < len(parts):
            if parts[at_] in self._firsts or parts[at_].lower() in self._firsts:
                for end in range(min(len(parts), at_ + _MOST_PARTS), at_, -2):
                    given = self._given("".join(parts[at_:end]))
                    if given is not None:
                        out.append(given)
                        at_ = end
                        break
                else:
                    out.append(parts[at_])
                    at_ += 1
            else:
                out.append(parts[at_])
                at_ += 1
            if at_ < len(parts) and at_ % 2:
                out.append(parts[at_])
                at_ += 1
        return "".join(out)


def numbered(name: str, taken: Container[str]) -> str:
    """A name that is not in `taken`: `name` itself, or `name` with the lowest free number, counted from 2."""
    return next(each for each in chain([name], (f"{name}-{number}" for number in count(2))) if each not in taken)
