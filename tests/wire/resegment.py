"""Writes connections anew, one FPDU per TCP segment, for tshark.

tshark 4.0 finds markers only in a segment that holds exactly one FPDU, and takes markers to be in both directions
as soon as one side asked for them. Bytes and their sequence numbers stay as captured; only the segment boundaries
move, and a direction can be written with the M bits of the start-up frames set to what holds for that direction."""

import dataclasses
import struct

from mpa_stream import FLAG_MARKERS

SYN, ACK, PUSH = 0x02, 0x10, 0x08
FIRST_SEQUENCE = 0


@dataclasses.dataclass
class Role:
    """One direction of a connection, split into its parts."""

    start: bytes  # the MPA frame
    full: bytes  # Full Operation Phase
    fpdus: list


def _ip_packet(index, from_initiator, sequence, acknowledged, flags, payload):
    addresses = [bytes([10, index >> 8 & 255, index & 255, host]) for host in (1, 2)]
    ports = [40000, 7471]
    if not from_initiator:
        addresses.reverse()
        ports.reverse()
    tcp = struct.pack(">HHIIBBHHH", *ports, sequence, acknowledged, 5 << 4, flags, 65535, 0, 0)
    total = 20 + len(tcp) + len(payload)
    header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, total, 0, 0x4000, 64, 6, 0, *addresses)
    return header + tcp + payload


def _with_marker_flag(start, markers):
    flags = start[16] | FLAG_MARKERS if markers else start[16] & ~FLAG_MARKERS
    return start[:16] + bytes([flags]) + start[17:]


class Writer:
    """A pcap file of raw IP packets, and for each packet number what it holds."""

    def __init__(self, path):
        self.file = open(path, "wb")
        self.file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 101))
        self.packets = 0
        self.connections = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def _packet(self, *fields):
        packet = _ip_packet(self.connections, *fields)
        self.file.write(struct.pack("<IIII", self.packets // 1000000, self.packets % 1000000, len(packet), len(packet)))
        self.file.write(packet)
        self.packets += 1
        return self.packets

    def connection(self, initiator, responder, markers, wanted):
        """Writes a connection with the FPDUs in `wanted`, pairs of (role, fpdu), all of roles whose streams have
        markers as told. Returns packet number -> index in `wanted`."""
        self.connections += 1
        start = {True: _with_marker_flag(initiator.start, markers), False: _with_marker_flag(responder.start, markers)}
        data = FIRST_SEQUENCE + 1
        self._packet(True, FIRST_SEQUENCE, 0, SYN, b"")
        self._packet(False, FIRST_SEQUENCE, data, SYN | ACK, b"")
        self._packet(True, data, data, ACK, b"")
        self._packet(True, data, data, ACK | PUSH, start[True])
        self._packet(False, data, data + len(start[True]), ACK | PUSH, start[False])
        numbers = {}
        for index, (role, fpdu) in enumerate(wanted):
            mine = role is initiator
            sequence = data + len(start[mine]) + fpdu.start
            number = self._packet(mine, sequence & 0xFFFFFFFF, data + len(start[not mine]), ACK | PUSH,
                                  role.full[fpdu.start:fpdu.end])
            numbers[number] = index
        return numbers
