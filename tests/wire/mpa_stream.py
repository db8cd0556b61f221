"""MPA's layer of a captured stream: the start-up frames and where each FPDU begins and ends (RFC 5044).

Nothing here looks into an FPDU; that is tshark's part in check_pcap.py."""

import dataclasses

REQUEST_KEY = b"MPA ID Req Frame"
REPLY_KEY = b"MPA ID Rep Frame"
START_HEADER = 20
MARKER_INTERVAL = 512
MARKER_LENGTH = 4
CRC_LENGTH = 4
FLAG_MARKERS, FLAG_CRC, FLAG_REJECT = 0x80, 0x40, 0x20


class FramingError(Exception):
    """The stream is not what RFC 5044 says it is."""


@dataclasses.dataclass
class StartFrame:
    flags: int
    revision: int
    length: int  # of the whole frame


@dataclasses.dataclass
class Fpdu:
    start: int  # offset in Full Operation Phase; a leading marker belongs to the FPDU
    end: int
    ulpdu_length: int
    markers: list  # offsets of the markers inside


def parse_start_frame(stream, key):
    """The request or reply at the head of a stream."""
    if len(stream) < START_HEADER or stream[:16] != key:
        raise FramingError(f"does not begin with '{key.decode()}'")
    length = START_HEADER + int.from_bytes(stream[18:20], "big")
    if len(stream) < length:
        raise FramingError("ends within the private data of its MPA frame")
    return StartFrame(stream[16], stream[17], length)


class Cursor:
    """Walks over the bytes of Full Operation Phase and steps over the markers."""

    def __init__(self, stream, markers):
        self.stream = stream
        self.with_markers = markers
        self.at = 0
        self.markers = []

    def skip_marker(self):
        if self.with_markers and self.at % MARKER_INTERVAL == 0:
            self.markers.append(self.at)
            self.advance(MARKER_LENGTH)

    def advance(self, count):
        if self.at + count > len(self.stream):
            raise FramingError(f"ends within the FPDU at or before offset {self.at} of Full Operation Phase")
        self.at += count

    def take(self, count):
        while count:
            self.skip_marker()
            to_marker = MARKER_INTERVAL - self.at % MARKER_INTERVAL if self.with_markers else count
            step = min(count, to_marker)
            self.advance(step)
            count -= step


def next_fpdu(cursor):
    """The FPDU at the cursor; its markers must point at its length field (RFC 5044 section 4.3)."""
    start = cursor.at
    cursor.markers = []
    cursor.skip_marker()
    length_field = cursor.at
    cursor.take(2)
    ulpdu_length = int.from_bytes(cursor.stream[length_field:length_field + 2], "big")
    padding = -(2 + ulpdu_length) % 4
    cursor.take(ulpdu_length + padding + CRC_LENGTH)
    for marker in cursor.markers:
        pointer = int.from_bytes(cursor.stream[marker:marker + MARKER_LENGTH], "big")
        expected = max(0, marker - length_field)
        if pointer != expected:
            raise FramingError(f"marker at offset {marker} of Full Operation Phase is {pointer:08x}, not {expected:08x}")
    return Fpdu(start, cursor.at, ulpdu_length, cursor.markers)


def split_fpdus(stream, markers):
    """All FPDUs of Full Operation Phase; the stream must end with the last one."""
    cursor = Cursor(stream, markers)
    fpdus = []
    while cursor.at < len(stream):
        if markers and len(stream) - cursor.at == MARKER_LENGTH and cursor.at % MARKER_INTERVAL == 0:
            raise FramingError("ends with a marker that no FPDU follows")
        fpdus.append(next_fpdu(cursor))
    return fpdus


def _crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc_table()


def crc32c(data):
    """CRC32C as it goes on the wire: least significant byte first."""
    value = 0xFFFFFFFF
    for byte in data:
        value = (value >> 8) ^ _TABLE[(value ^ byte) & 0xFF]
    return (value ^ 0xFFFFFFFF).to_bytes(4, "little")
