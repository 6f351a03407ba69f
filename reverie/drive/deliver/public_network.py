"""The network backend of webhooks: connections to public addresses only."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Collection, Iterable
from math import inf
from time import monotonic
from typing import Any

import httpcore

from reverie.drive.deliver.destinations import is_public


class AddressRefused(httpcore.ConnectError):
    """The host has an address that is not public."""


class PublicNetwork(httpcore.NetworkBackend):
    """Connects to public addresses only: resolves a host once, checks every address, and connects to one of them.

    The host is not resolved a second time, since the DNS could answer differently. Certificates are still checked
    against the name of the host.
    """

    def __init__(self, private_hosts: Collection[str] = (), *, seconds: float = inf) -> None:
        """Exempt `private_hosts`, names in lower case, from the check of their addresses.

        `seconds` is the time for all waits of all connections together.
        """
        self._private_hosts = private_hosts
        self._deadline = monotonic() + seconds
        self._network = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address that answers; each has an equal share of the time that is left.

        Raises AddressRefused, and ConnectError as the library does.
        """

        def connect(to: str, *, shares: int = 1) -> httpcore.NetworkStream:
            left = _left(self._deadline, timeout, httpcore.ConnectTimeout, shares=shares)
            return _TimedStream(
                self._network.connect_tcp(to, port, left, local_address, socket_options), self._deadline
            )

        if host.lower() in self._private_hosts:
            return connect(host)
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:  # UnicodeError: a name that the DNS cannot have, such as `a..example`
            raise httpcore.ConnectError(type(error).__name__) from None
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        if not all(map(is_public, addresses)):
            raise AddressRefused("The host has an address that is not public.")
        for number, address in enumerate(addresses[:-1]):
            try:
                return connect(address, shares=len(addresses) - number)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return connect(addresses[-1])


class _TimedStream(httpcore.NetworkStream):
    """A connection that ends at a deadline, however often the other side sends a little.

    The library's own limits are for each wait.
    """

    def __init__(self, stream: httpcore.NetworkStream, deadline: float) -> None:
        self._stream, self._deadline = stream, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(self._deadline, timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(self._deadline, timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = _left(self._deadline, timeout, httpcore.ConnectTimeout)
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(deadline: float, timeout: float | None, late: type[httpcore.TimeoutException], *, shares: int = 1) -> float:
    """Return the seconds to wait: `timeout`, or less: a share of those before the deadline. Raises `late` after it."""
    left = (deadline - monotonic()) / shares
    if left <= 0:
        raise late
    return left if timeout is None else min(timeout, left)
