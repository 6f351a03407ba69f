"""The network backend of webhooks: connections to public addresses only."""

from __future__ import annotations

import socket
from collections.abc import Collection, Iterable

import httpcore

from reverie.drive.deliver.destinations import is_public


class AddressRefused(httpcore.ConnectError):
    """The host has an address that is not public."""


class PublicNetwork(httpcore.NetworkBackend):
    """Connects to public addresses only: resolves a host once, checks every address, and connects to one of them.

    The host is not resolved a second time, since the DNS could answer differently. Certificates are still checked
    against the name of the host.
    """

    def __init__(self, private_hosts: Collection[str] = ()) -> None:
        """Exempt `private_hosts`, names in lower case, from the check of their addresses."""
        self._private_hosts = private_hosts
        self._network = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address that answers. Raises AddressRefused, and ConnectError as the library does."""
        if host.lower() in self._private_hosts:
            return self._network.connect_tcp(host, port, timeout, local_address, socket_options)
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:  # UnicodeError: a name that the DNS cannot have, such as `a..example`
            raise httpcore.ConnectError(type(error).__name__) from None
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        if not all(map(is_public, addresses)):
            raise AddressRefused("The host has an address that is not public.")
        for address in addresses[:-1]:
            try:
                return self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return self._network.connect_tcp(addresses[-1], port, timeout, local_address, socket_options)
