"""TCP connections of a capture file, each direction put back together as one string of bytes."""

import collections
import dataclasses
import ipaddress
import struct


class CaptureError(Exception):
    """The file cannot be read as a capture, or lacks bytes of a connection."""


def endpoint_name(endpoint):
    address, port = endpoint
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


@dataclasses.dataclass
class Segment:
    source: tuple  # address, port
    target: tuple
    sequence: int
    flags: int
    payload: bytes


@dataclasses.dataclass
class Direction:
    """One direction of a connection while its segments come in."""

    base: int = None  # sequence number of the first byte
    data: bytearray = dataclasses.field(default_factory=bytearray)
    early: dict = dataclasses.field(default_factory=dict)  # offset -> bytes behind a gap

    def add(self, sequence, payload):
        if self.base is None:
            self.base = sequence
        offset = (sequence - self.base + 0x80000000) % 0x100000000 - 0x80000000
        # Offsets are counted modulo 2^32: bring this one near the end of what is there.
        offset += round((len(self.data) - offset) / 0x100000000) * 0x100000000
        self.early[offset] = max(payload, self.early.get(offset, b""), key=len)
        for start in sorted(self.early):
            if start > len(self.data):
                break
            piece = self.early.pop(start)
            self.data += piece[len(self.data) - start:]


@dataclasses.dataclass
class Connection:
    initiator: tuple
    responder: tuple
    sent: dict  # endpoint -> Direction

    @property
    def name(self):
        return f"{endpoint_name(self.initiator)} -> {endpoint_name(self.responder)}"

    def silent(self):
        return not any(direction.data or direction.early for direction in self.sent.values())

    def stream(self, endpoint):
        direction = self.sent[endpoint]
        if direction.early:
            raise CaptureError(f"{self.name}: the capture lacks bytes sent by {endpoint_name(endpoint)} "
                               f"at stream offset {len(direction.data)}")
        return bytes(direction.data)


def read_packets(path):
    """Yields (link type, packet bytes) of a pcap or pcapng file."""
    with open(path, "rb") as file:
        magic = file.read(4)
        file.seek(0)
        yield from (_pcapng_packets if magic == b"\x0a\x0d\x0d\x0a" else _pcap_packets)(path, file)


def _whole(path, captured, length):
    if captured < length:
        raise CaptureError(f"{path}: packets were cut short, capture with a larger snap length")


def _pcap_packets(path, file):
    head = file.read(24)
    orders = {b"\xd4\xc3\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">", b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\x3c\x4d": ">"}
    order = orders.get(head[:4])
    if len(head) < 24 or order is None:
        raise CaptureError(f"{path}: not a pcap file, nor pcapng")
    link = struct.unpack(order + "I", head[20:24])[0] & 0xFFFF
    while header := file.read(16):
        if len(header) < 16:
            raise CaptureError(f"{path}: ends in the middle of a packet header")
        captured, length = struct.unpack(order + "II", header[8:])
        packet = file.read(captured)
        if len(packet) < captured:
            raise CaptureError(f"{path}: ends in the middle of a packet")
        _whole(path, captured, length)
        yield link, packet


def _pcapng_packets(path, file):
    """Enhanced packet blocks; what else there is, but for sections and interfaces, is passed over."""
    order, links = "<", []
    while header := file.read(8):
        if header[:4] == b"\x0a\x0d\x0d\x0a":
            order = "<" if file.read(4) == b"\x4d\x3c\x2b\x1a" else ">"
            file.seek(-4, 1)
            links = []
        kind, length = struct.unpack(order + "II", header.ljust(8, b"\0"))
        body = file.read(length - 8)
        if len(header) < 8 or len(body) < length - 8:
            raise CaptureError(f"{path}: ends in the middle of a block")
        if kind == 1:
            links.append(struct.unpack(order + "H", body[:2])[0])
        elif kind == 6:
            interface, _, _, captured, original = struct.unpack(order + "IIIII", body[:20])
            _whole(path, captured, original)
            yield links[interface], body[20:20 + captured]


def network_layer(link, packet):
    """The IP packet inside a link-layer frame, or None."""
    ethertype_at = {1: 12, 113: 14, 276: 0}  # Ethernet, Linux cooked, Linux cooked version 2
    header = {0: 4, 108: 4, 12: 0, 101: 0, 228: 0, 229: 0, 1: 14, 113: 16, 276: 20}  # BSD loopback, raw IP, ...
    if link not in header:
        raise CaptureError(f"link type {link} is not known here")
    if link in ethertype_at:
        at = ethertype_at[link]
        if packet[at:at + 2] not in (b"\x08\x00", b"\x86\xdd"):
            return None
    return packet[header[link]:]


def tcp_segment(packet):
    """The TCP segment of an IP packet without extension headers, or None."""
    if not packet:
        return None
    if packet[0] >> 4 == 4 and packet[9] == 6:
        start, end = (packet[0] & 15) * 4, struct.unpack(">H", packet[2:4])[0] or len(packet)
        addresses = packet[12:16], packet[16:20]
    elif packet[0] >> 4 == 6 and packet[6] == 6:
        start, end = 40, 40 + struct.unpack(">H", packet[4:6])[0]
        end = len(packet) if end == 40 else end
        addresses = packet[8:24], packet[24:40]
    else:
        return None
    tcp = packet[start:end]
    source_port, target_port, sequence = struct.unpack(">HHI", tcp[:8])
    source, target = (str(ipaddress.ip_address(address)) for address in addresses)
    return Segment((source, source_port), (target, target_port), sequence, tcp[13], tcp[(tcp[12] >> 4) * 4:])


def read_connections(path, port=None):
    """All TCP connections in the file whose beginning was captured, in order of appearance."""
    connections = []
    current = {}
    for link, packet in read_packets(path):
        segment = tcp_segment(network_layer(link, packet) or b"")
        if segment is None or (port and port not in (segment.source[1], segment.target[1])):
            continue
        key = frozenset((segment.source, segment.target))
        syn, ack = segment.flags & 0x02, segment.flags & 0x10
        if syn and not ack:
            known = current.get(key)
            first = (segment.sequence + 1) % 0x100000000
            if known is None or known.sent[segment.source].base != first:
                current[key] = Connection(segment.source, segment.target, collections.defaultdict(Direction))
                connections.append(current[key])
        if key not in current:
            continue
        direction = current[key].sent[segment.source]
        if syn:
            direction.base = (segment.sequence + 1) % 0x100000000
        if segment.payload:
            direction.add(segment.sequence + (1 if syn else 0), segment.payload)
    return connections
