"""The hosts to which webhooks may go: those with public addresses, and those in `REVERIE_WEBHOOK_PRIVATE_HOSTS`.

Otherwise, anyone who may add a webhook could make this server send requests into its own network and learn from the
answers (server-side request forgery, https://owasp.org/www-community/attacks/Server_Side_Request_Forgery).
"""

from __future__ import annotations

import socket
from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

from reverie.errors import InputError

SETTING: Final = "REVERIE_WEBHOOK_PRIVATE_HOSTS"
_LOCAL_NAMES: Final = ("localhost", ".localhost")
#: Prefix that translates IPv4 for networks with only IPv6 (RFC 6052).
_NAT64: Final = IPv6Network("64:ff9b::/96")
#: The same prefix for local use (RFC 8215).
_OWN_NAT64: Final = IPv6Network("64:ff9b:1::/48")


def is_public(address: str) -> bool:
    """Return whether an IP address can be reached from the whole internet, by the registries of IANA.

    Private, loopback, link-local (with the metadata services of clouds), shared, reserved and multicast addresses are
    not public, nor are IPv6 addresses that map to such an IPv4 address.
    """
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        if ip in _OWN_NAT64:
            return False
        ip = _translated(ip) or ip
    return ip.is_global and not ip.is_multicast


def require_public(host: str, private_hosts: Collection[str] = ()) -> None:
    """Raise InputError if a host is `localhost` or an IP address that is not public; no name is resolved."""
    name = host.lower().rstrip(".")
    if host.lower() in private_hosts:
        return
    if name.endswith(_LOCAL_NAMES) or not all(map(is_public, _numeric(name))):
        raise InputError(
            f"{host} is an address of this machine or of a private network; a webhook needs a public one. "
            f"The server's operator can allow it with {SETTING}."
        )


def _numeric(host: str) -> list[str]:
    """Return a numeric host's address, in any notation of the resolver (`127.1`, `0x7f000001`); nothing for a name."""
    try:
        found = socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return []
    return [str(each[4][0]) for each in found]


def _translated(ip: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address to which an IPv6 address leads: mapped, 6to4, Teredo or NAT64."""
    if ip in _NAT64:
        return IPv4Address(ip.packed[-4:])
    return ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
