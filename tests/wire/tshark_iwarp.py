"""What tshark says about the iWARP layers of a capture file, frame by frame."""

import collections
import dataclasses
import re
import subprocess

IWARP_LAYERS = ("IWARP_MPA", "IWARP_DDP", "IWARP_DDP_RDMAP", "IWARP_RDMA")
COMMAND = [
    "tshark", "-n",
    "--enable-heuristic", "iwarp_mpa_tcp",
    # A port that the system chose may be one that another protocol has registered, such as 57000 of IRC.
    "-o", "tcp.try_heuristic_first:TRUE",
    # Guesses at what a Send carries are not our subject, and their mistakes would look like ours.
    "--disable-protocol", "smb_direct", "--disable-protocol", "rpcordma",
    "-O", "iwarp_mpa,iwarp_ddp_rdmap",
]


class TsharkError(Exception):
    """tshark is missing or gave up."""


@dataclasses.dataclass
class Frame:
    requests: int = 0
    replies: int = 0
    ulpdu_lengths: list = dataclasses.field(default_factory=list)
    good_crcs: int = 0
    bad_crcs: list = dataclasses.field(default_factory=list)  # tshark's words
    unchecked_crcs: int = 0  # CRC was negotiated off
    ddp_versions: list = dataclasses.field(default_factory=list)
    opcodes: list = dataclasses.field(default_factory=list)
    malformed: list = dataclasses.field(default_factory=list)  # names of layers


def _take_line(frame, line):
    """Adds what one line of tshark's packet details says."""
    text = line.strip()
    if text == "Request frame header":
        frame.requests += 1
    elif text == "Reply frame header":
        frame.replies += 1
    elif match := re.match(r"ULPDU length: (\d+)", text):
        frame.ulpdu_lengths.append(int(match[1]))
    elif text.startswith("CRC check:"):
        if "(Good CRC32)" in text:
            frame.good_crcs += 1
        else:
            frame.bad_crcs.append(text)
    elif text.startswith("CRC: 0x"):
        frame.unchecked_crcs += 1
    elif match := re.search(r"= DDP protocol version: (\d)", text):
        frame.ddp_versions.append(int(match[1]))
    elif match := re.search(r"= OpCode: (.+) \(0x[0-9a-f]+\)$", text):
        frame.opcodes.append(match[1])
    elif match := re.match(r"\[Malformed Packet: ?(.*?)\]", text):
        frame.malformed.append(match[1])


def decode(path):
    """Runs tshark over the file: frame number -> Frame."""
    frames = collections.defaultdict(Frame)
    number = 0
    try:
        process = subprocess.Popen(COMMAND + ["-r", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, errors="replace")
    except FileNotFoundError as error:
        raise TsharkError("tshark is not installed: run scripts/install-deps") from error
    with process:
        for line in process.stdout:
            if match := re.match(r"Frame (\d+):", line):
                number = int(match[1])
            else:
                _take_line(frames[number], line)
        complaints = process.stderr.read()
    if process.returncode != 0:
        raise TsharkError(f"tshark ended with {process.returncode}: {complaints.strip()}")
    return frames
