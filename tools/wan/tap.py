"""TAP devices: an Ethernet card whose other end is a file."""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Sequence

from ordercast.core.errors import NotFit, WrongUse
from tools.wan import namespaces
from tools.wan.namespaces import Claim, entered

TUN = "/dev/net/tun"
DEVICE = "wan0"
"""The name of the device, the same in every namespace."""

MTU_MIN, MTU_DEFAULT, MTU_MAX = 576, 1500, 65_000

QUEUE_FRAMES = 10_000
"""The kernel keeps so many frames for a switch that does not come to read them at once; then it drops."""

OFFLOAD_HEADER_BYTES = 10
"""`struct virtio_net_hdr` before each frame."""

ETHERNET_HEADER_BYTES = 14
LARGEST_FRAME_BYTES = OFFLOAD_HEADER_BYTES + ETHERNET_HEADER_BYTES + 65_536

_IFF_TAP, _IFF_NO_PI, _IFF_VNET_HDR = 0x0002, 0x1000, 0x4000
_TUN_F_CSUM, _TUN_F_TSO4 = 1, 2
_TUNSETIFF, _TUNSETOFFLOAD = 0x400454CA, 0x400454D0


def why_unfit() -> str | None:
    """What this machine lacks, and how to get it; None if it can make namespaces with TAP devices."""
    try:
        os.close(os.open(TUN, os.O_RDWR))
    except FileNotFoundError:
        return f"there is no {TUN}: load the kernel module `tun`, or give the container that device"
    except OSError as error:
        reason = namespaces.why_unfit()
        return reason or f"{TUN} cannot be opened ({error.strerror}): give the container that device"
    return namespaces.why_unfit()


class Tap:
    """The file end of a device. With `offload` each frame has a small header before it, which lets TCP hand over up to
    64 KiB as one frame that no card has cut up yet, and saves the checksums."""

    def __init__(self, namespace: str, *, offload: bool) -> None:
        flags = _IFF_TAP | _IFF_NO_PI | (_IFF_VNET_HDR if offload else 0)
        with entered(namespace):
            self.descriptor = os.open(TUN, os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(self.descriptor, _TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), flags))
        self._offload = offload
        self.set_segments(whole=True)

    def set_segments(self, *, whole: bool) -> None:
        """Whether TCP may hand over many segments as one frame. Has no meaning without `offload`."""
        if self._offload:
            fcntl.ioctl(self.descriptor, _TUNSETOFFLOAD, _TUN_F_CSUM | (_TUN_F_TSO4 if whole else 0))

    def close(self) -> None:
        """The device goes with its file."""
        os.close(self.descriptor)


def check_mtu(mtu: int) -> None:
    """One that the devices can have."""
    if not MTU_MIN <= mtu <= MTU_MAX:
        raise WrongUse(f"mtu {mtu}: expected {MTU_MIN} to {MTU_MAX}")


def open_taps(claimed: Claim, sites: Sequence[str], *, mtu: int, offload: bool) -> list[Tap]:
    """A device for each site, up and with its address; each knows the hardware addresses of all others."""
    try:
        taps = [Tap(claimed.namespace(site), offload=offload) for site in sites]
    except OSError as error:
        raise NotFit(f"a TAP device cannot be made: {error.strerror}") from error
    for index, site in enumerate(sites):
        neighbours = (
            f"neigh add {claimed.address(other)} lladdr {claimed.hardware_address(other)} dev {DEVICE} nud permanent"
            for other in range(len(sites))
            if other != index
        )
        lines = (
            f"link set {DEVICE} address {claimed.hardware_address(index)} mtu {mtu} txqueuelen {QUEUE_FRAMES}",
            f"link set {DEVICE} up",
            f"addr add {claimed.address(index)}/24 broadcast + dev {DEVICE}",
            *neighbours,
        )
        namespaces.run_ip(lines, claimed.namespace(site))
    return taps
