"""Runs rdma-core's own tests as Debian ships them, on the first device whose address is not a loopback
one, and prints a line for each: its outcome, its name and the reason that it gave. For
/usr/bin/python3, which has pyverbs; under `iwarp run`.

usage: rdma_core_suite.py DIRECTORY [NAME…]
  DIRECTORY  where to unpack the tests
  NAME       run these only, for instance tests.test_mr.MRTest

Three things are told to the tests here, and nothing else: which address the device's network interface
has, which they look for in the kernel's /sys/class/infiniband; that the octets of an RDMA Write may
arrive after its completion (RFC 5041 §5.4), so whoever compares them waits for them first; and a port to
listen on that nobody has, as theirs is always the same."""

import gzip
import ipaddress
import os
import shutil
import socket
import subprocess
import sys
import time
import unittest

PATIENCE = 5.0  # until the octets of a Write must be there


def unpack(directory):
    """Puts the tests where `import tests` finds them."""
    listed = subprocess.run(["dpkg-query", "-L", "python3-pyverbs"], capture_output=True, text=True,
                            check=False).stdout.split("\n")
    source = next((os.path.dirname(path) for path in listed if path.endswith("/run_tests.py")), None)
    if source is None:
        sys.exit("python3-pyverbs is not there: scripts/install-deps installs it")
    if not os.path.isdir(source):
        sys.exit(f"python3-pyverbs was installed without its tests in {source}")
    target = os.path.join(directory, "tests")
    shutil.copytree(source, target)
    for name in os.listdir(target):
        if name.endswith(".gz"):
            path = os.path.join(target, name)
            with gzip.open(path) as packed, open(path[:-3], "wb") as plain:
                shutil.copyfileobj(packed, plain)
    sys.path[:0] = [directory, target]


def address_of(context, index=0):
    """GIDs are addresses."""
    address = ipaddress.IPv6Address(context.query_gid(1, index).gid)
    return address.ipv4_mapped or address


def choose_device(device):
    """An id that is bound to a loopback address has no device, and the tests count on one."""
    names = [each.name.decode() for each in device.get_device_list()]
    for name in names:
        if not address_of(device.Context(name=name)).is_loopback:
            return name
    sys.exit("there is no network interface with an address besides the loopback one")


def tell_interface(base, device):
    """Has the tests take the address of a GID as that of the device's interface."""
    def get_ip_mac(self, name, port, index):
        address = address_of(device.Context(name=name), index or 0)
        self.args.append([name, port, index, str(address), "02:00:00:00:00:00"])
    base.RDMATestCase._get_ip_mac = get_ip_mac


def choose_port(base):
    """Has the two processes of a test meet at a free port."""
    plain = base.RDMACMBaseTest.two_nodes_rdmacm_traffic

    def two_nodes_rdmacm_traffic(self, *arguments, **named):
        with socket.socket() as probe:
            probe.bind((self.ip_addr, 0))
            port = str(probe.getsockname()[1])
        return plain(self, *arguments, **named, port=port)

    base.RDMACMBaseTest.two_nodes_rdmacm_traffic = two_nodes_rdmacm_traffic


def await_octets(read, expected, may_come=lambda: True):
    """What is there once it is what is expected, or when it has not become that."""
    limit = time.monotonic() + PATIENCE
    while (got := read()) != expected and time.monotonic() < limit and may_come():
        time.sleep(0.001)
    return got


def await_writes(utils, enums, rdmacm):
    """Has the tests look at the target of a Write when the Write has arrived."""
    writes = (enums.IBV_WR_RDMA_WRITE, enums.IBV_QP_EX_WITH_RDMA_WRITE)
    plain_traffic, plain_remote = utils.rdma_traffic, rdmacm.CMConnection.remote_traffic

    def is_connected(end):
        return end.qp.query(enums.IBV_QP_STATE)[0].qp_state == enums.IBV_QPS_RTS

    def awaiting(end, letter):
        def mem_read(size=None, offset=0):
            size = end.msg_size if size is None else size
            return await_octets(lambda: type(end).mem_read(end, size, offset), letter * size,
                                lambda: is_connected(end))
        return mem_read

    def rdma_traffic(client, server, *arguments, **named):
        if named.get("send_op") in writes:
            client.mem_read, server.mem_read = awaiting(client, b"s"), awaiting(server, b"c")
        return plain_traffic(client, server, *arguments, **named)

    def remote_traffic(self, passive, remote_op="write"):
        if passive and remote_op == "write":
            self.syncer = AwaitingBarrier(self.syncer, self.cm_res)
        return plain_remote(self, passive, remote_op)

    utils.rdma_traffic = rdma_traffic
    rdmacm.CMConnection.remote_traffic = remote_traffic


class AwaitingBarrier:
    """The barrier that two processes share: the second time all are there, the Writes are too."""

    def __init__(self, barrier, resources):
        self.barrier, self.resources, self.waits = barrier, resources, 0

    def wait(self):
        self.barrier.wait()
        self.waits += 1
        if self.waits == 2:
            size = self.resources.msg_size
            await_octets(lambda: self.resources.mr.read(size, 0), b"c" * size)


class Lines(unittest.TestResult):
    """Prints each test's outcome; of a failure also where it was."""

    passed = 0

    def line(self, outcome, test, reason=""):
        print(f"{outcome} {test.id()}{reason and ': '}{reason}", flush=True)

    def trace(self, outcome, test, error):
        self.line(outcome, test, " ".join(str(error[1]).split())[:200])
        print(self._exc_info_to_string(error, test), file=sys.stderr)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1
        self.line("pass", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line("skip", test, reason)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.trace("fail", test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self.trace("fail", test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.trace("fail", test, err)


def main():
    directory, *names = sys.argv[1:]
    unpack(directory)
    import args_parser
    sys.argv[1:] = ["--port", "1", "--gid", "0"]
    args_parser.parser.parse_args()
    from pyverbs import device, enums
    chosen = choose_device(device)
    args_parser.parser.args["dev"] = chosen
    import tests
    import tests.base
    import tests.rdmacm_utils
    import tests.utils
    tell_interface(tests.base, device)
    choose_port(tests.base)
    await_writes(tests.utils, enums, tests.rdmacm_utils)
    loader = unittest.TestLoader()
    suite = loader.loadTestsFromNames(names) if names else loader.loadTestsFromModule(tests)
    result = Lines()
    suite.run(result)
    print(f"{result.passed} passed, of {result.testsRun} on {chosen}", flush=True)


if __name__ == "__main__":
    main()
