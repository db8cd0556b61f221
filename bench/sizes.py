"""Numbers of octets."""

K, M = 1 << 10, 1 << 20


def words(size):
    """As one says it: 64 B, 16 KiB, 1 MiB."""
    for unit, name in ((M, "MiB"), (K, "KiB")):
        if size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"
