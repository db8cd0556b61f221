"""Lets a test import the modules of bench/, and gives it a place that needs no root."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))


class Nowhere:
    """Two ends that nothing reaches."""

    name = "nowhere"
    congestion = "cubic"
    device = "lo"
    server_address = client_address = "127.0.0.1"
    client_unpinned = ["to-client"]
    server_unpinned = ["to-server"]
    client = ["client-prefix"]
    server = ["server-prefix"]
