"""Captures of iWARP connections made up for the test of check_pcap.py, markers and faults included."""

import random
import struct

from mpa_stream import REPLY_KEY, REQUEST_KEY, crc32c

SYN, ACK, PUSH = 0x02, 0x10, 0x08


def tagged_write(payload, stag=0x1234, offset=0x5678, control=0xC1):
    return struct.pack(">BBIQ", control, 0x40, stag, offset) + payload


def untagged_send(payload, sequence, control=0x41):
    return struct.pack(">BBIIII", control, 0x43, 0, 0, sequence, 0) + payload


class Stream:
    """One direction in Full Operation Phase."""

    def __init__(self, markers):
        self.markers = markers
        self.data = bytearray()
        self.pointer_error = 0  # added to the next marker's pointer

    def _marker(self, length_field):
        pointer = len(self.data) - length_field if length_field is not None else 0
        self.data += struct.pack(">HH", 0, pointer + self.pointer_error)
        self.pointer_error = 0

    def add(self, ulpdu):
        start, length_field = len(self.data), None
        body = struct.pack(">H", len(ulpdu)) + ulpdu
        body += bytes(-len(body) % 4)
        for word in [body[i:i + 4] for i in range(0, len(body), 4)] + [None]:
            if self.markers and len(self.data) % 512 == 0:
                self._marker(length_field)
            length_field = len(self.data) if length_field is None else length_field
            self.data += crc32c(self.data[start:]) if word is None else word

    def add_ending_at_marker(self):
        """A Write whose FPDU ends where the next marker would begin, with at most one marker inside."""
        overhead = 2 + 14 + 4  # length, tagged header, CRC
        room = -len(self.data) % 512
        payload = room + 512 - overhead - (4 if self.markers else 0)
        self.add(tagged_write(bytes(payload)))
        assert len(self.data) % 512 == 0


def start_frame(key, markers_wanted):
    flags = 0x50 | (0x80 if markers_wanted else 0)
    return key + struct.pack(">BBHHH", flags, 2, 4, 0x8001, 0x8001)


def _packet(from_initiator, sequence, flags, payload):
    """An Ethernet frame on 127.0.0.1."""
    ports = [50000, 7471] if from_initiator else [7471, 50000]
    tcp = struct.pack(">HHIIBBHHH", *ports, sequence & 0xFFFFFFFF, 0, 5 << 4, flags, 65535, 0, 0)
    host = b"\x7f\0\0\1"
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + len(payload), 0, 0x4000, 64, 6, 0, host, host)
    return b"\0" * 12 + b"\x08\0" + ip + tcp + payload


def _as_ipv6(frame):
    """The same frame on ::1."""
    tcp = frame[34:]
    host = bytes(15) + b"\1"
    return b"\0" * 12 + b"\x86\xdd" + struct.pack(">IHBB16s16s", 6 << 28, len(tcp), 6, 64, host, host) + tcp


def _segments(rng, from_initiator, first, data):
    """Cuts a stream anywhere, and sends a piece of it twice now and then."""
    at = 0
    while at < len(data):
        size = rng.choice((1, 7, 100, 1448, 1448, 30000, 65000))
        yield _packet(from_initiator, first + at, ACK | PUSH, bytes(data[at:at + size]))
        if rng.random() < 0.1:
            yield _packet(from_initiator, first + max(0, at - 50), ACK | PUSH, bytes(data[max(0, at - 50):at + 20]))
        at += size


def write(path, initiator, responder, seed=1, drop=None, ipv6=False):
    """A capture of one connection with the two streams, cut into segments by the seed; the initiator's sequence
    numbers wrap. `drop` leaves out the packet of that number."""
    rng = random.Random(seed)
    request = start_frame(REQUEST_KEY, responder.markers)
    reply = start_frame(REPLY_KEY, initiator.markers)
    first, other = 0xFFFFFC00, 5000
    packets = [_packet(True, first - 1, SYN, b""), _packet(False, other - 1, SYN | ACK, b"")]
    packets += [_packet(True, first, ACK | PUSH, request), _packet(False, other, ACK | PUSH, reply)]
    packets += _segments(rng, True, first + len(request), initiator.data)
    packets += _segments(rng, False, other + len(reply), responder.data)
    if drop is not None:
        del packets[drop]
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for packet in map(_as_ipv6, packets) if ipv6 else packets:
            file.write(struct.pack("<IIII", 0, 0, len(packet), len(packet)) + packet)
