"""Replacement of addresses: consistent, within the same networks, and the same when it is done twice."""

from __future__ import annotations

import ipaddress
import re
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from workbench.recordings.addresses import PUBLIC, V4, Addresses

Network = ipaddress.IPv4Network
PRIVATE = st.sampled_from(["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]).map(Network)


@st.composite
def networks(draw: st.DrawFn) -> list[Network]:
    """Private networks and addresses, some within one another."""
    found: list[Network] = []
    for _ in range(draw(st.integers(1, 6))):
        base = draw(PRIVATE)
        offset = draw(st.integers(0, base.num_addresses - 1))
        bits = draw(st.integers(base.prefixlen, 32))
        found.append(Network((int(base.network_address) + offset, bits), strict=False))
        found.append(Network((int(base.network_address) + offset, 32)))
    return found


def replaced(given: list[Network]) -> list[Network]:
    made = Addresses((str(each.network_address), each.prefixlen) for each in given)
    return [Network(made.text(str(each)), strict=False) for each in given]


@given(networks())
def test_an_address_stays_in_its_networks_and_two_stay_two(given: list[Network]) -> None:
    after = replaced(given)
    for (one, other), (new, another) in zip(combinations(given, 2), combinations(after, 2), strict=True):
        assert (one == other) == (new == another)
        assert one.subnet_of(other) == new.subnet_of(another), (given, after)
    assert [each.prefixlen for each in given] == [each.prefixlen for each in after]


@given(networks())
def test_doing_it_twice_changes_nothing(given: list[Network]) -> None:
    once = replaced(given)
    assert replaced(once) == once


def texts(text: str) -> str:
    return Addresses.of([text]).text(text)


@given(networks(), networks())
def test_addresses_alone_are_told_apart_as_within_a_larger_recording(own: list[Network], others: list[Network]) -> None:
    within = replaced([*own, *others])[: len(own)]
    assert replaced(within) == replaced(own)


def test_a_public_address_is_one_that_nobody_has() -> None:
    text = texts("from 20.61.4.5 and 20.61.4.6, by 52.1.2.0/24")
    assert "20.61" not in text
    assert "52.1" not in text
    found = [each[1] for each in V4.finditer(text)]
    assert len(set(found)) == 3
    assert all(ipaddress.IPv4Address(each) in PUBLIC for each in found)
    assert texts(text) == text


def test_addresses_that_are_the_same_everywhere_are_kept() -> None:
    text = "0.0.0.0/0, 127.0.0.1:9090, 169.254.169.254, 168.63.129.16"
    assert texts(text) == text


def test_both_ends_of_a_range_are_replaced() -> None:
    text = texts("addresses: [10.61.4.5-10.61.4.9, 20.61.4.5-20.61.4.9], next to 10.61.4.7")
    assert "61.4" not in text
    first, second, third, fourth, fifth = re.findall(r"\d+(?:\.\d+){3}", text)
    assert (first, second, fifth) == ("10.0.0.5", "10.0.0.9", "10.0.0.7")
    assert {Network(third), Network(fourth)} & {Network(first), Network(second)} == set()
    assert Network(third).subnet_of(PUBLIC)
    assert Network(fourth).subnet_of(PUBLIC)
    assert texts(text) == text


def test_a_version_with_a_dash_is_no_range() -> None:
    assert texts("1.2.3.4-1, 8.9.2.26-1ubuntu2, 1.2.3.4-5.6.7") == "1.2.3.4-1, 8.9.2.26-1ubuntu2, 1.2.3.4-5.6.7"


def test_four_numbers_that_are_no_address_are_left_alone() -> None:
    assert texts("version 1.2.3.400, v580.105.08, 1.2.3.4.5") == "version 1.2.3.400, v580.105.08, 1.2.3.4.5"
