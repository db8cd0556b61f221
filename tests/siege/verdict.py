"""What is wrong with a row, and how rows are printed."""

from procfs import MIB

MANY = 1000  # attackers, up to which good clients keep 90 % of their rate
SHARE_OF_FEW, SHARE_OF_MANY = 0.90, 0.75
GROWTH = 1.10


def least_share(attackers):
    return SHARE_OF_FEW if attackers <= MANY else SHARE_OF_MANY


def problems(row):
    """Sentences; none if the server has stood the attack."""
    found = []
    if not row["alive"]:
        found.append("the server has ended")
    if row["alive"] and not row["sink_rate"]:
        found.append("no good operation was done beside the sink: there is no share")
    if row["sink_rate"] and row["share"] < least_share(row["attackers"]):
        found.append(f"good clients keep {row['share']:.0%} of their rate")
    if row["failed"]:
        found.append(f"{row['failed']} good operations failed: {row['problem']}")
    before, after = row["before"], row["after"]
    if row["alive"] and after["rss"] > GROWTH * before["rss"]:
        found.append(f"it keeps {(after['rss'] - before['rss']) / MIB:.1f} MiB "
                     f"({after['rss'] / before['rss'] - 1:.0%} more than before)")
    return found


HEADING = (f"{'server':15}{'attack':18}{'from':6}{'share':>6}{'ops/s':>7}{'sink':>7}{'failed':>7}"
           f"{'slowest':>9}{'cpu':>6}{'':3}{'MiB before/peak/after':24}{'threads':15}{'cut/s':>7}")


def line(row):
    def three(of, figure):
        return "/".join(figure(row[when][of]) for when in ("before", "peak", "after"))

    memory = three("rss", lambda octets: f"{octets / MIB:.1f}")
    threads = three("threads", str)
    return (f"{row['server']:15}{row['attack']:18}{row['addresses']:6}{row['share']:6.0%}"
            f"{row['rate']:7.1f}{row['sink_rate']:7.1f}{row['failed']:7}{row['slowest']:8.2f}s"
            f"{row['cpu']:6.0%}   {memory:24}{threads:15}{row['cuts']:7.0f}"
            f"  {'FAIL' if row['problems'] else 'pass'}")
