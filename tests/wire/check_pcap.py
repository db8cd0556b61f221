#!/usr/bin/env python3
"""Asserts with tshark that a capture holds sound iWARP: the MPA request and reply are decoded, at least N FPDUs
are, every CRC is good, every DDP version is 1, and no iWARP layer is malformed.

Exit status: 0 all of this holds, 1 it does not (each finding is one line), 2 wrong usage, no tshark, or a file that
is no capture. The capture must begin before the connection does, and lose nothing (tcpdump -s 0)."""

import argparse
import collections
import os
import sys
import tempfile

import mpa_stream
import pcap_streams
import resegment
import tshark_iwarp

MARKER_CHOICES = ("none", "initiator", "responder", "both")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pcap", help="a capture, pcap or pcapng")
    parser.add_argument("--min-fpdus", type=int, default=1, metavar="N", help="at least N FPDUs (1)")
    parser.add_argument("--connections", type=int, metavar="N", help="exactly N MPA connections (at least one)")
    parser.add_argument("--port", type=int, help="look only at connections from or to this port")
    parser.add_argument("--markers", choices=MARKER_CHOICES,
                        help="who must insert markers on every connection (whatever was negotiated)")
    parser.add_argument("--crc", choices=("on", "off", "any"), default="on",
                        help="what must have been negotiated (on)")
    parser.add_argument("--opcode", action="append", default=[], metavar="NAME",
                        help="an RDMAP message that must occur, in tshark's words, such as 'Read Request'; repeatable")
    parser.add_argument("--fpdus-up-to", nargs=2, type=int, metavar=("INITIATOR", "RESPONDER"),
                        help="the most octets of an FPDU of either side, Markers left out; some must have half as many")
    parser.add_argument("--as-captured", action="store_true",
                        help="let tshark cut the stream into FPDUs itself (not for streams with markers)")
    return parser.parse_args()


class Exchange:
    """An MPA connection: what was negotiated, and both directions cut into FPDUs."""

    def __init__(self, connection):
        self.name = connection.name
        sent, answered = (connection.stream(end) for end in (connection.initiator, connection.responder))
        self.request = self._start(sent, mpa_stream.REQUEST_KEY, "initiator")
        self.reply = self._start(answered, mpa_stream.REPLY_KEY, "responder")
        if self.reply.flags & mpa_stream.FLAG_REJECT:
            raise mpa_stream.FramingError(f"{self.name}: the responder rejected the connection")
        self.crc = bool((self.request.flags | self.reply.flags) & mpa_stream.FLAG_CRC)
        # M asks for markers in what the asking side receives.
        self.markers = {"initiator": bool(self.reply.flags & mpa_stream.FLAG_MARKERS),
                        "responder": bool(self.request.flags & mpa_stream.FLAG_MARKERS)}
        self.roles = {"initiator": self._role(sent, self.request, "initiator"),
                      "responder": self._role(answered, self.reply, "responder")}

    def _start(self, stream, key, role):
        try:
            return mpa_stream.parse_start_frame(stream, key)
        except mpa_stream.FramingError as error:
            raise mpa_stream.FramingError(f"{self.name}: the {role}'s stream {error}") from error

    def _role(self, stream, start, role):
        full = stream[start.length:]
        try:
            fpdus = mpa_stream.split_fpdus(full, self.markers[role])
        except mpa_stream.FramingError as error:
            raise mpa_stream.FramingError(f"{self.name}: the {role}'s stream: {error}") from error
        return resegment.Role(stream[:start.length], full, fpdus)

    def marker_side(self):
        sides = [side for side, there in self.markers.items() if there]
        return "both" if len(sides) == 2 else (sides or ["none"])[0]


class Verdict:
    """Findings, and the sums that the last line reports."""

    def __init__(self):
        self.findings = []
        self.opcodes = collections.Counter()
        self.fpdus = self.good_crcs = self.own_crcs = self.unchecked_crcs = 0

    def find(self, text):
        self.findings.append(text)

    def take(self, frame, where):
        """Adds a decoded frame; `where` names it in findings."""
        self.fpdus += len(frame.ulpdu_lengths)
        self.good_crcs += frame.good_crcs
        self.unchecked_crcs += frame.unchecked_crcs
        self.opcodes.update(frame.opcodes)
        for text in frame.bad_crcs:
            self.find(f"{where}: {text}")
        for version in frame.ddp_versions:
            if version != 1:
                self.find(f"{where}: DDP version {version}")
        for layer in frame.malformed:
            if layer in tshark_iwarp.IWARP_LAYERS:
                self.find(f"{where}: malformed {layer}")
        if len(frame.opcodes) != len(frame.ulpdu_lengths):
            self.find(f"{where}: {len(frame.ulpdu_lengths)} FPDUs but {len(frame.opcodes)} RDMAP messages")


def counted_wrong_by_tshark(fpdu):
    """tshark 4.0 counts a marker too many in an FPDU that ends just where the next marker begins."""
    return bool(fpdu.markers) and fpdu.end % mpa_stream.MARKER_INTERVAL == 0


def check_own_crc(exchange, side, fpdu, verdict):
    bytes_ = exchange.roles[side].full[fpdu.start:fpdu.end]
    verdict.fpdus += 1
    verdict.own_crcs += 1
    if exchange.crc and mpa_stream.crc32c(bytes_[:-4]) != bytes_[-4:]:
        verdict.find(f"{exchange.name}: {side}'s FPDU at offset {fpdu.start}: bad CRC")


def check_frame(frame, exchange, side, fpdu, verdict):
    """A frame that we wrote holds this one FPDU: tshark must see the same."""
    where = f"{exchange.name}: {side}'s FPDU at offset {fpdu.start}"
    verdict.take(frame, where)
    if frame.ulpdu_lengths != [fpdu.ulpdu_length]:
        verdict.find(f"{where}: tshark reads ULPDU lengths {frame.ulpdu_lengths}, not [{fpdu.ulpdu_length}]")
    elif exchange.crc and frame.good_crcs != 1 and not frame.bad_crcs:
        verdict.find(f"{where}: tshark checked no CRC")


def check_marker_kind(exchanges, markers, verdict):
    """Lets tshark decode all directions that have markers, or all that have none."""
    written = []
    with tempfile.TemporaryDirectory(prefix="check_pcap.") as folder:
        path = os.path.join(folder, "resegmented.pcap")
        with resegment.Writer(path) as writer:
            for exchange in exchanges:
                wanted = []
                for side in (side for side in exchange.roles if exchange.markers[side] == markers):
                    for fpdu in exchange.roles[side].fpdus:
                        if counted_wrong_by_tshark(fpdu):
                            check_own_crc(exchange, side, fpdu, verdict)
                        else:
                            wanted.append((side, fpdu))
                roles = exchange.roles
                pairs = [(roles[side], fpdu) for side, fpdu in wanted]
                start = writer.packets
                numbers = writer.connection(roles["initiator"], roles["responder"], markers, pairs)
                written.append((exchange, start, wanted, numbers))
        frames = tshark_iwarp.decode(path)
    for exchange, start, wanted, numbers in written:
        if not any(frames[start + packet].requests for packet in range(1, 6)):
            verdict.find(f"{exchange.name}: tshark decoded no MPA request")
        if not any(frames[start + packet].replies for packet in range(1, 6)):
            verdict.find(f"{exchange.name}: tshark decoded no MPA reply")
        for number, index in numbers.items():
            check_frame(frames[number], exchange, *wanted[index], verdict)


def check_as_captured(path, exchanges, verdict):
    frames = tshark_iwarp.decode(path)
    for number in sorted(frames):
        verdict.take(frames[number], f"frame {number}")
    for what in ("requests", "replies"):
        count = sum(getattr(frame, what) for frame in frames.values())
        if count < len(exchanges):
            verdict.find(f"tshark decoded {count} MPA {what} of {len(exchanges)}")
    expected = sum(len(role.fpdus) for exchange in exchanges for role in exchange.roles.values())
    if verdict.fpdus != expected:
        verdict.find(f"tshark decoded {verdict.fpdus} FPDUs of {expected}")


def read_exchanges(arguments, verdict):
    exchanges = []
    for connection in pcap_streams.read_connections(arguments.pcap, arguments.port):
        if connection.silent():
            continue  # somebody only looked whether the port is open
        try:
            exchanges.append(Exchange(connection))
        except (mpa_stream.FramingError, pcap_streams.CaptureError) as error:
            verdict.find(str(error))
    return exchanges


def check_longest(most, exchanges, verdict):
    for side, limit in zip(("initiator", "responder"), most):
        longest = max((fpdu.ulpdu_length for exchange in exchanges for fpdu in exchange.roles[side].fpdus), default=0)
        if not limit / 2 <= longest + 6 <= limit:
            verdict.find(f"the longest FPDU of an {side} has {longest + 6} octets, not half of {limit} to {limit}")


def check_expectations(arguments, exchanges, verdict):
    if arguments.connections is not None and len(exchanges) != arguments.connections:
        verdict.find(f"{len(exchanges)} MPA connections, not {arguments.connections}")
    elif not exchanges:
        verdict.find("no MPA connection in the capture")
    for exchange in exchanges:
        if arguments.crc != "any" and exchange.crc != (arguments.crc == "on"):
            verdict.find(f"{exchange.name}: CRC was negotiated {'on' if exchange.crc else 'off'}")
        if arguments.markers and exchange.marker_side() != arguments.markers:
            verdict.find(f"{exchange.name}: markers were negotiated for {exchange.marker_side()}")
    if arguments.fpdus_up_to:
        check_longest(arguments.fpdus_up_to, exchanges, verdict)
    if verdict.fpdus < arguments.min_fpdus:
        verdict.find(f"{verdict.fpdus} FPDUs, fewer than {arguments.min_fpdus}")
    for opcode in arguments.opcode:
        if opcode not in verdict.opcodes:
            verdict.find(f"no RDMAP message '{opcode}'")


def print_report(arguments, exchanges, verdict):
    limit = 20
    for finding in verdict.findings[:limit]:
        print(f"{arguments.pcap}: {finding}", file=sys.stderr)
    if len(verdict.findings) > limit:
        print(f"{arguments.pcap}: and {len(verdict.findings) - limit} more", file=sys.stderr)
    for exchange in exchanges:
        print(f"{exchange.name}: MPA revision {exchange.reply.revision}, CRC {'on' if exchange.crc else 'off'}, "
              f"markers {exchange.marker_side()}")
    opcodes = ", ".join(f"{count} {name}" for name, count in verdict.opcodes.most_common())
    print(f"{verdict.fpdus} FPDUs, {verdict.good_crcs} CRCs found good by tshark, {verdict.own_crcs} by this script "
          f"alone, {verdict.unchecked_crcs} not used; {opcodes}")
    print("PASS" if not verdict.findings else f"FAIL: {len(verdict.findings)} findings")


def main():
    arguments = parse_arguments()
    verdict = Verdict()
    exchanges = read_exchanges(arguments, verdict)
    if arguments.as_captured:
        if any(exchange.marker_side() != "none" for exchange in exchanges):
            raise pcap_streams.CaptureError("--as-captured: the streams have markers")
        check_as_captured(arguments.pcap, exchanges, verdict)
    else:
        for markers in (False, True):
            kind = [exchange for exchange in exchanges if markers in exchange.markers.values()]
            if kind:
                check_marker_kind(kind, markers, verdict)
    check_expectations(arguments, exchanges, verdict)
    print_report(arguments, exchanges, verdict)
    return 1 if verdict.findings else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, pcap_streams.CaptureError, tshark_iwarp.TsharkError) as error:
        print(f"check_pcap: {error}", file=sys.stderr)
        sys.exit(2)
