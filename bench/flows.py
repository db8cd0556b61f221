"""What is measured: this stack, raw TCP, and what one would take instead. Each flow keeps a server
running if it can, and measures for a moment whenever it is asked to."""

import json
import os
import re
import subprocess
import time
import typing

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
START_SECONDS = 20
RUN_SECONDS = 60


class Sample(typing.NamedTuple):
    """One measurement: octets or messages a second, or microseconds one way (the median); processor
    seconds of both ends for a thousand million octets, or a million messages, if they are known; of
    latencies also their percentiles by name."""
    value: float
    cpu: float | None = None
    percentiles: dict | None = None


PERCENTILES = ("min", "median", "p90", "p99", "p99.9", "max")


class Flow:
    """One kind of traffic between the two ends of a place."""

    name = ""
    family = ""  # whose it is: a curve of the report
    alike = True  # does the same as ours, so that the two may be compared
    missing = None  # the program that is not installed, if it is not

    def __init__(self, place, builds):
        self.place, self.builds = place, builds

    def start(self):
        """Starts what is kept running."""

    def run(self, seconds):
        raise NotImplementedError

    def stop(self):
        """Ends it."""


def spawn(command, **options):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **options)


def end(process):
    if process.poll() is None:
        process.terminate()
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def output_of(command, environment=None):
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS, check=False,
                          env=environment)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


class Served(Flow):
    """With one server for all its clients, which prints its port."""

    server_command = ()

    def start(self):
        self.process = spawn([*self.place.server, *self.server_command])
        line = self.process.stdout.readline()
        found = re.search(r"(\d+)\D*$", line)
        if not found:
            end(self.process)
            raise RuntimeError(f"{self.server_command[0]} did not start: {line}")
        self.port = found[1]

    def stop(self):
        end(self.process)


def cpu_of(told, figure, octets, messages):
    """Of what `iwarp perf` and tcp_perf tell in the same words."""
    used = sum(one["all_threads"] if isinstance(one, dict) else one
               for one in told["cpu_seconds"].values())
    amount = octets / 1e9 if figure == "octets" else messages / 1e6
    return used / amount if amount else 0


def latency_of(told, cpu):
    """Likewise."""
    latencies = told["latency_us"]
    return Sample(latencies["median"], cpu, {name: latencies[name] for name in PERCENTILES})


class Ours(Served):
    """`iwarp perf`. `figure` is octets, messages or latency."""

    def __init__(self, place, builds, figure, options, build="ours"):
        super().__init__(place, builds)
        self.figure, self.options = figure, list(options)
        self.name = self.family = build
        self.program = os.path.join(builds[build], "cli", "iwarp")
        self.server_command = (self.program, "perf", "server", "--listen",
                               f"{place.server_address}:0")

    def run(self, seconds):
        latency = ["--latency"] if self.figure == "latency" else []
        return self.sample(output_of(
            [*self.place.client, self.program, "perf", f"{self.place.server_address}:{self.port}",
             *self.options, *latency, "--duration", str(seconds), "--json"]))

    def sample(self, text):
        """Of what the client has printed."""
        told = json.loads(text)["ours"]
        cpu = cpu_of(told, self.figure, told["octets"], told["messages"])
        if self.figure == "latency":
            return latency_of(told, cpu)
        return Sample(told["bytes_per_second" if self.figure == "octets" else "messages_per_second"],
                      cpu)


class Raw(Served):
    """Raw TCP (tcp_perf)."""

    family = "raw"

    def __init__(self, place, builds, figure, wait, size):
        super().__init__(place, builds)
        self.figure, self.wait, self.size = figure, wait, str(size)
        self.name = f"raw {wait} {size}"
        self.program = os.path.join(builds["ours"], "bench", "tcp", "tcp_perf")
        self.server_command = (self.program, "server", "--address", place.server_address)

    def run(self, seconds):
        shape = "ping-pong" if self.figure == "latency" else "stream"
        return self.sample(output_of(
            [*self.place.client, self.program, "client", self.place.server_address, self.port,
             "--wait", self.wait, "--shape", shape, "--size", self.size, "--seconds", str(seconds)]))

    def sample(self, text):
        """Of what the client has printed."""
        told = json.loads(text)
        messages = told["octets"] / told["size"]
        cpu = cpu_of(told, self.figure, told["octets"], messages)
        if self.figure == "latency":
            return latency_of(told, cpu)
        return Sample(told["octets_per_second"], cpu)


class Channel(Served):
    """A server of fifty clients that sleeps in epoll (channel_bench): over the C interface, with a
    completion channel for each, or over TCP."""

    def __init__(self, place, builds, transport, outstanding, build="ours"):
        super().__init__(place, builds)
        self.name = build if transport == "verbs" else transport
        self.options = ["--transport", transport, "--outstanding", str(outstanding)]
        self.program = ["env", f"LD_LIBRARY_PATH={builds[build]}/lib/iwarp-verbs",
                        os.path.join(builds["ours"], "bench", "channel", "channel_bench")]
        self.server_command = (*self.program, "server", "--address", place.server_address)

    def run(self, seconds):
        told = json.loads(output_of(
            [*self.place.client, *self.program, "client", self.place.server_address, self.port,
             *self.options, "--seconds", str(seconds)]))
        return Sample(told["exchanges_per_second"],
                      cpu_of(told, "messages", 0, told["exchanges"]))


class Counted(Flow):
    """Takes a number of iterations instead of a time: the number at which the time is about right is
    found at the first run."""

    first_iterations = 200

    def __init__(self, place, builds, figure, size):
        super().__init__(place, builds)
        self.figure, self.size = figure, size
        self.iterations = None

    def once(self, iterations):
        """The figure, and the seconds that were measured."""
        raise NotImplementedError

    def iterations_for(self, seconds):
        """A few are slower than many are: what has taken too little time is tried again with more."""
        iterations = self.first_iterations
        for _ in range(3):
            _, took = self.once(iterations)
            iterations = max(int(iterations * seconds / max(took, 1e-4)), 50)
            if took > seconds / 4:
                break
        return iterations

    def run(self, seconds):
        if self.iterations is None:
            self.iterations = self.iterations_for(seconds)
        value, _ = self.once(self.iterations)
        return Sample(value)


class Mpi(Counted):
    """Open MPI, a rank at each end, left to choose its processors: over the verbs provider of
    libfabric and this stack, over libfabric's tcp provider, or over its own TCP."""

    family = "mpi"
    missing = None if os.access("/usr/bin/mpirun.openmpi", os.X_OK) else "mpirun.openmpi"
    agent = os.path.join(TOP, "tests", "programs", "instead_of_ssh")
    ways = {"verbs": ["--mca", "pml", "cm", "--mca", "mtl", "ofi",
                      "--mca", "mtl_ofi_provider_include", "verbs;ofi_rxm"],
            "libfabric tcp": ["--mca", "pml", "cm", "--mca", "mtl", "ofi",
                              "--mca", "mtl_ofi_provider_include", "tcp;ofi_rxm"],
            "MPI's own tcp": ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"]}

    def __init__(self, place, builds, figure, size, way="verbs", build="ours"):
        super().__init__(place, builds, figure, size)
        self.way = self.name = way
        self.program = os.path.join(builds["ours"], "bench", "mpi", "mpi_bench")
        self.runner = []
        if way == "verbs":
            self.name = self.family = build
            self.runner = [os.path.join(builds[build], "cli", "iwarp"), "run"]

    def start(self):
        if not os.access(self.program, os.X_OK):
            raise RuntimeError(f"{self.program} was not built: there was no mpicc.openmpi")

    def command(self, iterations):
        shape = "ping-pong" if self.figure == "latency" else "stream"
        hosts = f"{self.place.client_address}:1,{self.place.server_address}:1"
        tcp = [part for kind in ("btl", "oob")
               for part in ("--mca", f"{kind}_tcp_if_include", self.place.device)]
        return [*self.place.client_unpinned, *self.runner, "mpirun.openmpi", "--allow-run-as-root",
                "--bind-to", "none", "--host", hosts, "-np", "2", "--mca", "plm_rsh_agent",
                " ".join([*self.place.server_unpinned, self.agent]), *tcp,
                "-x", "LD_LIBRARY_PATH", "-x", f"FI_TCP_IFACE={self.place.device}",
                *self.ways[self.way], self.program, shape, str(self.size), str(iterations)]

    def once(self, iterations):
        environment = {"LD_LIBRARY_PATH": ""} | os.environ  # what is to be passed on has to be there
        return self.value(output_of(self.command(iterations), environment))

    def value(self, text):
        """The last line: us for one way, or octets a second, and the seconds of all."""
        figure, seconds = text.split()[-2:]
        return float(figure), float(seconds)


class Once(Counted):
    """With a server for each client."""

    port = 21300

    def commands(self, iterations):
        """Of server and client, and the environment of both."""
        raise NotImplementedError

    def value(self, text):
        """What the client's output says, and the seconds that it has measured."""
        raise NotImplementedError

    def once(self, iterations):
        Once.port += 1
        server, client, environment = self.commands(iterations)
        process = spawn([*self.place.server, *server], env=environment)
        try:
            self.await_listener(process)
            return self.value(output_of([*self.place.client, *client], environment))
        finally:
            end(process)

    def await_listener(self, process):
        """Until the server listens. No connection is tried: it would be the one that it serves."""
        looking = [*self.place.server, "ss", "-Hltn", f"sport = :{self.port}"]
        until = time.monotonic() + START_SECONDS
        while not output_of(looking).strip():
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the server of {self.name} does not listen")
            time.sleep(0.02)


class Ucx(Once):
    """UCX over tcp."""

    family = "ucx"
    missing = None if os.access("/usr/bin/ucx_perftest", os.X_OK) else "ucx_perftest"

    def __init__(self, place, builds, figure, test, size):
        super().__init__(place, builds, figure, size)
        self.test = test
        self.name = f"ucx {test}"

    def commands(self, iterations):
        common = ["ucx_perftest", "-p", str(self.port)]
        client = [*common, self.place.server_address, "-t", self.test, "-s", str(self.size), "-n",
                  str(iterations), "-w", str(max(iterations // 10, 1)), "-f"]
        environment = dict(os.environ, UCX_TLS="tcp", UCX_NET_DEVICES=self.place.device)
        return common, client, environment

    def value(self, text):
        """The last line: iterations, percentile, average and overall time (us); average and overall
        MB/s (2^20); average and overall messages a second."""
        words = text.strip().splitlines()[-1].split()
        count, overall, rate = int(words[0]), float(words[3]), float(words[7])
        if self.figure == "latency":
            return overall, count * overall * 2 / 1e6
        return (rate * self.size if self.figure == "octets" else rate), count / max(rate, 1e-9)


class Perftest(Once):
    """A program of perftest under `iwarp run`, connected by rdma_cm: what verbs programs get of what
    the stack's own interface gives."""

    def __init__(self, place, builds, figure, program, size, build="ours"):
        super().__init__(place, builds, figure, size)
        self.program, self.iwarp = program, os.path.join(builds[build], "cli", "iwarp")
        self.name = self.family = build
        self.missing = None if os.access(f"/usr/bin/{program}", os.X_OK) else program

    def commands(self, iterations):
        common = [self.iwarp, "run", self.program, "-R", "-F", "-p", str(self.port), "-s",
                  str(self.size)]
        # A rate is that of a second in the middle of three: of so many iterations it would be the
        # average from the first on, when TCP has only begun.
        common += (["-n", str(iterations)] if self.figure == "latency" else
                   ["-D", "3", "-f", "1"])
        return common, [*common, self.place.server_address], None

    def iterations_for(self, seconds):
        return super().iterations_for(seconds) if self.figure == "latency" else 0

    def value(self, text):
        """The last line of figures. Of a rate: size, iterations, peak and average MB/s (2^20). Of a
        latency: size, iterations, least, most, typical and average us for one way."""
        rows = [line.split() for line in text.splitlines() if re.match(r"\s*\d+\s+\d+\s", line)]
        if not rows:
            raise RuntimeError(f"{self.program} printed no figures")
        words = rows[-1]
        count = int(words[1])
        if self.figure == "latency":
            return float(words[4]), count * float(words[5]) * 2 / 1e6
        rate = float(words[3]) * 2**20
        return rate, count * self.size / rate


class Fabric(Once):
    """libfabric's tcp provider: a ping-pong. Its rate is that of one message under way, which is
    less than it could do: Debian has no program that keeps more of them."""

    family = "libfabric"
    missing = None if os.access("/usr/bin/fi_pingpong", os.X_OK) else "fi_pingpong"
    name = "libfabric tcp"

    def __init__(self, place, builds, figure, size):
        super().__init__(place, builds, figure, size)
        self.alike = figure == "latency"

    def commands(self, iterations):
        common = ["fi_pingpong", "-p", "tcp", "-e", "msg", "-S", str(self.size), "-I",
                  str(iterations)]
        return ([*common, "-B", str(self.port)],
                [*common, "-P", str(self.port), self.place.server_address], None)

    def value(self, text):
        """The last line: size, sent, acknowledged, octets, seconds, MB/s, us for one way, M/s."""
        words = text.strip().splitlines()[-1].split()
        took, one_way = float(words[4].rstrip("s")), float(words[6])
        return (one_way if self.figure == "latency" else self.size / one_way * 1e6), took
