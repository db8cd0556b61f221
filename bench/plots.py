"""Plots of a run, drawn by gnuplot as SVG."""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import typing

from flows import PERCENTILES
from sizes import words

KINDS = ("rate", "cpu", "latency")  # how the names of files begin
FAMILIES = {"ours": ("iwarp", "#1f5fbf"), "beside": ("iwarp, other build", "#8e44ad"),
            "raw": ("raw TCP", "#444444"), "ucx": ("UCX", "#d9822b"),
            "libfabric": ("libfabric, one under way", "#3a8f5c")}
DRAWN_PERCENTILES = PERCENTILES[:-1]  # the maximum is chance


@dataclasses.dataclass
class Panel:
    """A system of axes. A curve is a family and its lines of numbers; a line begins with x and y,
    and may have the bounds of y."""
    title: str
    settings: typing.Sequence[str]
    curves: dict


@dataclasses.dataclass
class Plot:
    name: str  # of the file, without .svg
    title: str
    panels: list


def available():
    return shutil.which("gnuplot") is not None


def per_octet(result, value):
    """A rate, of octets: rows of messages count those."""
    return value * result["size"] if result["figure"] == "messages" else value


def best_of(result, family):
    """The faster one, where there are several flows of a family."""
    flows = [one for one in result["flows"] if one["family"] == family]
    return max(flows, key=lambda one: one["median"], default=None)


def rate_point(result, flow):
    return [result["size"], *(per_octet(result, value) / 1e9
                              for value in (flow["median"], *flow["quartiles"]))]


def cpu_point(result, flow):
    """Seconds for a thousand million octets; none if it is not known."""
    if not flow["cpu"]:
        return None
    of_messages = result["figure"] == "messages"
    return [result["size"], flow["cpu"] * 1000 / result["size"] if of_messages else flow["cpu"]]


def curves_of(results, point):
    """By family, points in the order of size."""
    curves = {}
    for result in sorted(results, key=lambda one: one["size"]):
        for family in FAMILIES:
            flow = best_of(result, family)
            numbers = point(result, flow) if flow else None
            if numbers:
                curves.setdefault(family, []).append(numbers)
    return {family: curves[family] for family in FAMILIES if family in curves}


def size_axis(curves):
    """Names at the powers of two: others would be in each other's way."""
    sizes = {numbers[0] for curve in curves.values() for numbers in curve}
    names = ", ".join(f'"{words(size)}" {size}' for size in sorted(sizes) if size & (size - 1) == 0)
    return ["set logscale x 2", f"set xtics ({names})", 'set xlabel "size of a Write"']


def size_plot(kind, title, settings, results, point):
    place, congestion = results[0]["place"], results[0]["congestion"]
    curves = curves_of(results, point)
    title = f"{title}, {place}, {congestion}"
    panel = Panel(title, [*size_axis(curves), *settings], curves)
    return Plot(f"{kind}-{place}-{congestion}", title, [panel])


def latency_panel(result):
    names = ", ".join(f'"{name}" {index}' for index, name in enumerate(DRAWN_PERCENTILES))
    curves = {}
    for family in FAMILIES:
        flow = best_of(result, family)
        if flow and flow["percentiles"]:
            curves[family] = [[index, flow["percentiles"][name]]
                              for index, name in enumerate(DRAWN_PERCENTILES)]
    settings = [f"set xtics ({names})", f"set xrange [-0.5:{len(DRAWN_PERCENTILES) - 0.5}]",
                "set logscale y", 'set ylabel "us, one way"']
    return Panel(result["title"], settings, curves)


def latency_panels(results):
    """Of those whose percentiles are known."""
    panels = [latency_panel(one) for one in results if one["figure"] == "latency"]
    return [panel for panel in panels if panel.curves]


def plots_of(results):
    """All for which there are figures."""
    plots = []
    for place, congestion in dict.fromkeys((one["place"], one["congestion"]) for one in results):
        here = [one for one in results if (one["place"], one["congestion"]) == (place, congestion)]
        sizes = [one for one in here if one["curve"]]
        if sizes:
            plots.append(size_plot("rate", "Rate of Writes",
                                   ['set ylabel "GB/s"', "set yrange [0:*]"], sizes, rate_point))
            plots.append(size_plot("cpu", "Processor time of both ends",
                                   ['set ylabel "seconds for 1 GB"', "set logscale y"], sizes,
                                   cpu_point))
        if panels := latency_panels(here):
            plots.append(Plot(f"latency-{place}-{congestion}", f"Latency, {place}, {congestion}",
                              panels))
    return sorted(plots, key=lambda plot: KINDS.index(plot.name.partition("-")[0]))


def data_block(name, curve):
    lines = (" ".join(f"{number:.6g}" for number in numbers) for numbers in curve)
    return [f"${name} << END", *lines, "END"]


def curve_command(name, family, curve):
    title, colour = FAMILIES[family]
    style = "yerrorlines" if len(curve[0]) == 4 else "linespoints"
    return (f'${name} with {style} linewidth 1.5 pointtype 7 pointsize 0.5 linecolor "{colour}" '
            f'title "{title}"')


def panel_script(panel, number):
    lines, commands = [], []
    for index, (family, curve) in enumerate(panel.curves.items()):
        name = f"curve_{number}_{index}"
        lines += data_block(name, curve)
        commands.append(curve_command(name, family, curve))
    return [*lines, "unset logscale", "set autoscale", f'set title "{panel.title}"',
            *panel.settings, "plot " + ", ".join(commands)]


def script(plot):
    """For gnuplot."""
    width = 760 if len(plot.panels) == 1 else 430 * len(plot.panels)
    lines = [f'set terminal svg size {width},420 font "sans-serif,12" background "white"',
             f'set output "{plot.name}.svg"', "set grid", "set key below"]
    if len(plot.panels) > 1:
        lines.append(f'set multiplot layout 1,{len(plot.panels)} title "{plot.title}"')
    for number, panel in enumerate(plot.panels):
        lines += panel_script(panel, number)
    return "\n".join(lines) + "\n"


def draw(plots, directory):
    """In place of those that are there."""
    os.makedirs(directory, exist_ok=True)
    for kind in KINDS:
        for old in pathlib.Path(directory).glob(f"{kind}-*.svg"):
            old.unlink()
    for plot in plots:
        subprocess.run(["gnuplot"], input=script(plot), text=True, check=True, cwd=directory)
