"""A name is resolved once, and the address that was checked is the one connected to."""

from __future__ import annotations

import socket
from typing import Any

import httpcore
import pytest

from reverie.drive.deliver.public_network import AddressRefused, PublicNetwork


class Network(httpcore.NetworkBackend):
    """Notes what is connected to; the first address never answers."""

    def __init__(self, *silent: str) -> None:
        self.silent, self.asked = silent, list[str]()

    def connect_tcp(self, host: str, *_: Any, **__: Any) -> httpcore.NetworkStream:
        self.asked.append(host)
        if host in self.silent:
            raise httpcore.ConnectTimeout
        return httpcore.NetworkStream()


def resolving(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    asked: list[str] = []

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    return asked


def public(network: Network, *private_hosts: str) -> PublicNetwork:
    ours = PublicNetwork(private_hosts)
    ours._network = network
    return ours


def test_the_address_that_was_checked_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, network = resolving(monkeypatch, "93.184.215.14", "93.184.215.15"), Network("93.184.215.14")
    public(network).connect_tcp("example.org", 443)
    assert (asked, network.asked) == (["example.org"], ["93.184.215.14", "93.184.215.15"])


def test_one_private_address_refuses_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, "93.184.215.14", "169.254.169.254")
    network = Network()
    with pytest.raises(AddressRefused):
        public(network).connect_tcp("rebinding.example", 80)
    assert network.asked == []
    public(network, "rebinding.example").connect_tcp("Rebinding.example", 80)
    assert network.asked == ["Rebinding.example"], "the setting allows the name"


def test_a_host_that_never_answers_or_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, "93.184.215.14")
    with pytest.raises(httpcore.ConnectTimeout):
        public(Network("93.184.215.14")).connect_tcp("example.org", 443)

    def unknown(*_: Any, **__: Any) -> None:
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(httpcore.ConnectError, match="gaierror"):
        public(Network()).connect_tcp("nowhere.example", 443)


@pytest.mark.parametrize("host", ["hooks..example.com", ".example.com", f"{'a' * 64}.example.com"])
def test_a_name_that_cannot_exist_is_a_failed_connection(host: str) -> None:
    with pytest.raises(httpcore.ConnectError, match="UnicodeError"):
        public(Network()).connect_tcp(host, 443)


def test_a_third_address_is_tried_before_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, waits = [0.0], list[float]()
    monkeypatch.setattr("reverie.drive.deliver.public_network.monotonic", lambda: clock[0])
    resolving(monkeypatch, "93.184.215.14", "93.184.215.15", "93.184.215.16")

    class Slow(Network):
        def connect_tcp(self, host: str, port: int, timeout: float, *_: Any, **__: Any) -> httpcore.NetworkStream:
            waits.append(timeout)
            if host in self.silent:
                clock[0] += timeout
            return super().connect_tcp(host)

    network, ours = Slow("93.184.215.14", "93.184.215.15"), PublicNetwork(seconds=30)
    ours._network = network
    ours.connect_tcp("example.org", 443, timeout=15)
    assert (network.asked[-1], waits) == ("93.184.215.16", [10, 10, 10])


def test_addresses_that_never_answer_have_one_deadline_together(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, "93.184.215.14", "93.184.215.15")
    network, ours = Network("93.184.215.14", "93.184.215.15"), PublicNetwork(seconds=0)
    ours._network = network
    with pytest.raises(httpcore.ConnectTimeout):
        ours.connect_tcp("example.org", 443, timeout=15)
    assert network.asked == []
