"""The report of a run: a table in Markdown between two markers of a file that says the rest, and
plots beside it. It is made of what --json writes, and of nothing else."""

import os
import pathlib

import plots
from sizes import words

BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
FILE, FOLDER = "performance.md", "performance"
UNITS = {"octets": (1e9, "GB/s"), "messages": (1e6, "M/s"), "latency": (1, "us")}
SIGNS = {"least": "≥ {:.2f}", "most_ratio": "≤ {:.2f}", "most_above": "≤ {:+.2f} us",
         "most_cpu": "CPU ≤ {:.2f}", "least_rate": "≥ {:.0f} M/s"}
HEADER = ("Row", "Place", "TCP", "Distance", "Ours", "Held against", "Ratio", "Target", "Verdict",
          "Ours ahead of", "CPU, ratio")


class Unusable(Exception):
    """The directory cannot take a report."""


def check(directory):
    """Says so before anything is measured."""
    if not plots.available():
        raise Unusable("gnuplot is not installed: scripts/install-deps --bench")
    path = pathlib.Path(directory, FILE)
    if path.exists():
        split(path.read_text(encoding="utf-8"), path)


def split(text, path):
    """What stands before and behind the table."""
    before, begin, rest = text.partition(BEGIN)
    _, end, behind = rest.partition(END)
    if not begin or not end:
        raise Unusable(f"{path} has no lines {BEGIN} and {END}")
    return before, behind


def replaced(text, table, path=FILE):
    """The text with another table."""
    before, behind = split(text, path)
    return f"{before}{BEGIN}\n{table}\n{END}{behind}"


def counted(count, what):
    return f"{count} {what}" + ("" if count == 1 else "s")


def installed(name, version):
    return f"{name} {version}" if version else f"no {name}"


def conditions(data):
    """In which everything was measured."""
    machine, options = data["machine"], data["options"]
    pinned = ", ".join(f"the {end} to processor {one}" for end, one in machine["pinned"].items())
    return (f"Measured on {machine['date']}: {machine['cpu']}, "
            f"{counted(machine['processors'], 'processor')}, Linux {machine['kernel']}, "
            f"{installed('UCX', machine['ucx'])}, {installed('libfabric', machine['libfabric'])}. Both ends are pinned: {pinned}. TCP's "
            f"congestion control: {' and '.join(options['congestion'])}. "
            f"{counted(options['rounds'], 'round')}, in each of them a slice of {options['slice']:g} s "
            "of everything; figures are medians, in brackets the quartiles.")


def verdict(result):
    if result["noisy"]:
        return "noisy"
    return {True: "met", False: "missed", None: ""}[result["met"]]


def nearest(results):
    """Of each row what was seen where the two processors were nearest: there it is the stack that
    decides, and not the way between them."""
    chosen = {}
    for one in results:
        key = one["row"], one["congestion"]
        if key not in chosen or one["distance"] < chosen[key]["distance"]:
            chosen[key] = one
    return list(chosen.values())


def summary(data):
    verdicts = [verdict(one) for one in nearest(data["results"]) if one["targets"]]
    text = ", ".join(f"{verdicts.count(one)} {one}" for one in ("met", "missed", "noisy"))
    text = f"{counted(len(verdicts), 'line')} with a target: {text}."
    if data["problems"]:
        text += " Not measured: " + "; ".join(
            f"{one['row']} under {one['congestion']}" for one in data["problems"]) + "."
    return text


def spread(pair, divisor=1):
    return f"({pair[0] / divisor:.2f}–{pair[1] / divisor:.2f})"


def with_unit(flow, figure, quartiles=True):
    divisor, unit = UNITS[figure]
    text = f"{flow['median'] / divisor:.2f} {unit}"
    return f"{text} {spread(flow['quartiles'], divisor)}" if quartiles else text


def how_raw(name):
    """Which variant: how it waits, and the octets of a send."""
    if not name.startswith("raw "):
        return name
    _, wait, size = name.split()
    return f"{wait}, {words(int(size)) if size.isdigit() else 'whole packets'}"


def raw_cells(result):
    """What raw TCP does, and the ratio."""
    if "raw" not in result:
        return "", ""
    raw = next(one for one in result["flows"] if one["name"] == result["raw"])
    ratio = f"{result['ratio']:.2f} {spread(result['ratio_quartiles'])}"
    if result["figure"] == "latency":
        ratio += f", {result['above_raw']:+.2f} us"
    return f"{with_unit(raw, result['figure'], False)}, {how_raw(raw['name'])}", ratio


def targets(result):
    return ", ".join(SIGNS[name].format(bound) for name, bound in result["targets"].items())


def cells(result):
    raw, ratio = raw_cells(result)
    ahead = ", ".join(f"{name} {share:.2f}" for name, share in result["ahead"].items())
    cpu = result.get("cpu_ratio")
    return (result["title"], result["place"], result["congestion"], str(result["distance"]),
            with_unit(result["flows"][0], result["figure"]), raw, ratio, targets(result),
            verdict(result), ahead, f"{cpu:.2f}" if cpu else "")


def in_order(results):
    """As they were measured, but the congestion controls of a row together."""
    places = list(dict.fromkeys(one["place"] for one in results))
    rows = list(dict.fromkeys(one["row"] for one in results))
    return sorted(results, key=lambda one: (places.index(one["place"]), rows.index(one["row"])))


def table(results):
    lines = [HEADER, ["---"] * len(HEADER), *map(cells, in_order(results))]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def pictures(drawn):
    return "\n\n".join(f"![{plot.title}]({FOLDER}/{plot.name}.svg)" for plot in drawn)


def content(data, drawn):
    """What stands between the markers."""
    return "\n\n".join(part for part in (conditions(data), summary(data), table(data["results"]),
                                         pictures(drawn)) if part)


def write(directory, data):
    """Throws Unusable and OSError."""
    check(directory)
    drawn = plots.plots_of(nearest(data["results"]))
    plots.draw(drawn, os.path.join(directory, FOLDER))
    path = pathlib.Path(directory, FILE)
    text = (path.read_text(encoding="utf-8") if path.exists()
            else f"# Performance\n\n{BEGIN}\n{END}\n")
    path.write_text(replaced(text, content(data, drawn), path), encoding="utf-8")
