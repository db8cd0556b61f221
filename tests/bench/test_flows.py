#!/usr/bin/env python3
"""What the programs print is read as they mean it."""

import json
import socket
import unittest

from of_bench import Nowhere
from flows import Fabric, Mpi, Ours, Perftest, Raw, Sample, Ucx, end, spawn

LATENCIES = {"min": 4.5, "median": 6.25, "p90": 7, "p99": 29, "p99.9": 52, "max": 97}
PERF = {"op": "send", "ours": {
    "messages": 4000, "octets": 2_000_000_000, "messages_per_second": 80000.0,
    "bytes_per_second": 4e9, "latency_us": {"kind": "one-way", "samples": 4000, **LATENCIES, "mean": 7.0},
    "cpu_seconds": {"client": {"all_threads": 0.5, "measuring_thread": 0.4},
                    "server": {"all_threads": 0.25, "measuring_thread": 0.2}}}}
TCP_PERF = {"size": 1000, "octets": 4_000_000, "seconds": 0.5, "octets_per_second": 8e6,
            "latency_us": LATENCIES, "cpu_seconds": {"client": 0.5, "server": 0.3}}
UCX = """\
+--------------+--------------+------------------------------+---------------------+-----------------------+
|              |              |        latency (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
|     Test     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
                        2000      5.249     8.178     8.500        7.46       7.50      122283      120000
"""
FABRIC = """\
bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
64      1k      =1k      125k        0.58s      0.22     288.34       0.00
"""
WRITE_BW = """\
 remote address: LID 0000 QPN 0x0002 PSN 0xcf
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 65536      5000             4100.50            4096.00		   0.065536
---------------------------------------------------------------------------------------
"""
SEND_LAT = """\
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]
 64      1000          4.82           66.10        5.25     	       5.50        	1.10   		12.00
"""
BUILDS = {"ours": "/build", "beside": "/other"}


class OfOurs(unittest.TestCase):
    def sample(self, figure):
        return Ours(Nowhere(), BUILDS, figure, []).sample(json.dumps(PERF))

    def test_a_rate_of_octets_with_processor_time_of_both_ends_for_a_gigabyte(self):
        self.assertEqual(self.sample("octets"), Sample(4e9, 0.375))

    def test_a_rate_of_messages_with_processor_time_for_a_million(self):
        self.assertEqual(self.sample("messages"), Sample(80000, 187.5))

    def test_a_latency_is_the_median_and_keeps_its_percentiles(self):
        sample = self.sample("latency")
        self.assertEqual(sample.value, 6.25)
        self.assertEqual(sample.percentiles, LATENCIES)

    def test_each_build_has_its_name_and_program(self):
        flow = Ours(Nowhere(), BUILDS, "octets", [], "beside")
        self.assertEqual((flow.name, flow.family, flow.program), ("beside", "beside", "/other/cli/iwarp"))


class OfRaw(unittest.TestCase):
    def sample(self, figure):
        return Raw(Nowhere(), BUILDS, figure, "spin", 1000).sample(json.dumps(TCP_PERF))

    def test_a_rate(self):
        sample = self.sample("octets")
        self.assertEqual(sample.value, 8e6)
        self.assertAlmostEqual(sample.cpu, 200)
        self.assertIsNone(sample.percentiles)

    def test_a_latency_with_processor_time_for_a_million_messages(self):
        sample = self.sample("latency")
        self.assertEqual((sample.value, sample.percentiles), (6.25, LATENCIES))
        self.assertAlmostEqual(sample.cpu, 200)

    def test_its_name_tells_how_it_waits_and_what_it_sends(self):
        self.assertEqual(Raw(Nowhere(), BUILDS, "octets", "epoll", "packet").name, "raw epoll packet")


class OfPerftest(unittest.TestCase):
    def test_a_rate_is_the_average_in_units_of_2_to_the_20th(self):
        rate, took = Perftest(Nowhere(), BUILDS, "octets", "ib_write_bw", 65536).value(WRITE_BW)
        self.assertEqual(rate, 4096 * 2**20)
        self.assertAlmostEqual(took, 5000 * 65536 / rate)

    def test_a_latency_is_the_typical_one(self):
        one_way, took = Perftest(Nowhere(), BUILDS, "latency", "ib_send_lat", 64).value(SEND_LAT)
        self.assertEqual(one_way, 5.25)
        self.assertAlmostEqual(took, 1000 * 2 * 5.5e-6)

    def test_it_runs_under_the_build_that_is_asked_for(self):
        flow = Perftest(Nowhere(), BUILDS, "octets", "ib_write_bw", 64, "beside")
        server, client, _ = flow.commands(50)
        self.assertEqual(server[:4], ["/other/cli/iwarp", "run", "ib_write_bw", "-R"])
        self.assertEqual(client, [*server, "127.0.0.1"])

    def test_a_rate_takes_a_time_and_a_latency_iterations(self):
        rate = Perftest(Nowhere(), BUILDS, "octets", "ib_write_bw", 64)
        self.assertEqual(rate.iterations_for(0.3), 0)
        self.assertEqual(rate.commands(0)[0][-4:], ["-D", "3", "-f", "1"])
        latency = Perftest(Nowhere(), BUILDS, "latency", "ib_send_lat", 64)
        self.assertEqual(latency.commands(70)[0][-2:], ["-n", "70"])

    def test_no_figures_are_an_error(self):
        with self.assertRaisesRegex(RuntimeError, "ib_write_bw printed no figures"):
            Perftest(Nowhere(), BUILDS, "octets", "ib_write_bw", 64).value("nothing\n")


class OfMpi(unittest.TestCase):
    def command(self, *how, figure="latency"):
        return Mpi(Nowhere(), BUILDS, figure, 4096, *how).command(70)

    def test_what_the_first_rank_prints_comes_last(self):
        flow = Mpi(Nowhere(), BUILDS, "latency", 8)
        self.assertEqual(flow.value("a warning of 3 lines\n12.500000 0.250000\n"), (12.5, 0.25))

    def test_ours_runs_under_the_build_that_is_asked_for_and_the_others_by_themselves(self):
        self.assertEqual(self.command("verbs", "beside")[:4],
                         ["to-client", "/other/cli/iwarp", "run", "mpirun.openmpi"])
        for way in ("libfabric tcp", "MPI's own tcp"):
            self.assertEqual(self.command(way)[:2], ["to-client", "mpirun.openmpi"])

    def test_all_ways_send_the_same(self):
        for figure, shape in (("latency", "ping-pong"), ("octets", "stream")):
            for way in Mpi.ways:
                self.assertEqual(self.command(way, figure=figure)[-4:],
                                 ["/build/bench/mpi/mpi_bench", shape, "4096", "70"])

    def test_the_other_rank_is_started_at_the_server(self):
        command = self.command()
        agent = command[command.index("plm_rsh_agent") + 1]
        self.assertRegex(agent, "^to-server /.*/instead_of_ssh$")

    def test_a_program_that_was_not_built_is_named(self):
        with self.assertRaisesRegex(RuntimeError, "/build/bench/mpi/mpi_bench was not built"):
            Mpi(Nowhere(), BUILDS, "latency", 8).start()


class OfUcx(unittest.TestCase):
    def value(self, figure, size=64):
        return Ucx(Nowhere(), BUILDS, figure, "tag_lat", size).value(UCX)

    def test_a_latency_is_the_overall_one(self):
        one_way, took = self.value("latency")
        self.assertEqual(one_way, 8.5)
        self.assertAlmostEqual(took, 2000 * 2 * 8.5e-6)

    def test_rates_are_of_messages_overall(self):
        self.assertEqual(self.value("messages")[0], 120000)
        self.assertEqual(self.value("octets", 1000)[0], 120_000_000)
        self.assertAlmostEqual(self.value("octets")[1], 2000 / 120000)

    def test_it_uses_tcp_over_the_device_of_the_place(self):
        server, client, environment = Ucx(Nowhere(), BUILDS, "octets", "tag_bw", 64).commands(500)
        self.assertEqual((environment["UCX_TLS"], environment["UCX_NET_DEVICES"]), ("tcp", "lo"))
        self.assertEqual(client[:len(server)], server)
        self.assertIn("500", client)


class OfLibfabric(unittest.TestCase):
    def flow(self, figure, size=64):
        return Fabric(Nowhere(), BUILDS, figure, size)

    def test_a_latency_is_of_one_way(self):
        self.assertEqual(self.flow("latency").value(FABRIC), (288.34, 0.58))

    def test_a_rate_is_of_one_message_under_way_and_compares_with_nothing(self):
        self.assertAlmostEqual(self.flow("octets").value(FABRIC)[0], 64 / 288.34e-6)
        self.assertFalse(self.flow("octets").alike)
        self.assertTrue(self.flow("latency").alike)


class Counted(Ucx):
    """Notes how many iterations it is asked for."""

    def __init__(self, took):
        super().__init__(Nowhere(), BUILDS, "octets", "tag_bw", 64)
        self.took, self.asked = took, []

    def once(self, iterations):
        self.asked.append(iterations)
        return 1.0, self.took(iterations)


class Here(Nowhere):
    """This network namespace."""
    client = server = []


class OfListeners(unittest.TestCase):
    def flow_at(self, port):
        flow = Ucx(Here(), {}, "octets", "tag_bw", 64)
        flow.port = port
        return flow

    def test_one_that_is_there_is_found(self):
        with socket.create_server(("127.0.0.1", 0)) as listener, spawn(["sleep", "60"]) as process:
            self.flow_at(listener.getsockname()[1]).await_listener(process)
            end(process)

    def test_a_server_that_ends_without_listening_is_named(self):
        with spawn(["true"]) as process, self.assertRaisesRegex(RuntimeError, "ucx tag_bw does not listen"):
            process.wait()
            self.flow_at(1).await_listener(process)


class OfIterations(unittest.TestCase):
    def test_so_many_that_the_time_is_about_right(self):
        flow = Counted(lambda iterations: iterations / 1000)
        self.assertEqual(flow.run(0.5), Sample(1.0))
        flow.run(0.5)
        self.assertEqual(flow.asked, [200, 500, 500])

    def test_a_slow_start_is_not_taken_for_the_rate(self):
        flow = Counted(lambda iterations: 0.01 + iterations / 1e6)
        flow.run(0.5)
        tried, measured = flow.asked[1:-1], flow.asked[-1]
        self.assertTrue(tried)
        self.assertAlmostEqual(flow.took(measured), 0.5, delta=0.15)

    def test_trying_has_an_end(self):
        flow = Counted(lambda iterations: 0)
        flow.run(0.5)
        self.assertEqual(len(flow.asked), 4)


if __name__ == "__main__":
    unittest.main()
