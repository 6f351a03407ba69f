"""Which addresses are public, and which hosts a webhook may name."""

from __future__ import annotations

import pytest

from reverie.drive.deliver.destinations import is_public, require_public
from reverie.errors import InputError


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "::1", "::", "fe80::1%eth0", "fd00:ec2::254", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1",
        "2002:7f00:1::", "ff02::1",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "::ffff:8.8.8.8"])
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST.", "a.localhost", "127.0.0.1", "127.1", "2130706433", "0x7f000001", "::1"]
)
def test_a_host_in_any_notation_is_refused(host: str) -> None:
    with pytest.raises(InputError, match="REVERIE_WEBHOOK_PRIVATE_HOSTS"):
        require_public(host)
    require_public(host, (host.lower(),))


def test_names_are_left_to_the_delivery() -> None:
    require_public("example.org")
    require_public("8.8.8.8")
