"""Applications that reach RDMA through a stack of their own: libfabric, MPI, DAPL, an iSER target, an
emulator that migrates a guest. Where one needs more than a command line, a script of this folder runs
it: iser_target.py, migration.py, mpi_pingpong.c."""

import os

from case import Case, HOSTS, LOOPBACK, USER
from checks import Never, SameFile, Shows

HERE = os.path.dirname(os.path.abspath(__file__))
ANYWHERE = (LOOPBACK, USER, HOSTS)


def script(name, arguments):
    return f"/usr/bin/python3 '{os.path.join(HERE, name)}' {arguments}"


def fabric_pingpong(provider, endpoint, sizes, **more):
    """-c has both ends compare every octet. Of each size a row: so many sent, all acknowledged."""
    both = f"fi_pingpong -p '{provider}' -e {endpoint} -I 30 -S all -c"
    rows = tuple(Shows(end, rf"^{size} +30 +=30 ", 1)
                 for end in ("client", "server") for size in sizes)
    return Case(f"{both} -P {{port}} {{host}}", f"{both} -B {{port}}",
                checks=(*rows, Never("client", "(?i)error"), Never("server", "(?i)error")),
                figure=r"^6m .* ([\d.]+) +[\d.]+ +[\d.]+$", unit="MB/s", places=ANYWHERE,
                label=f"fi_pingpong -p {provider} -e {endpoint} -S all -c", **more)


MPI_SIZES = tuple(2 ** power for power in range(3, 23))


def mpi(label, compiler, runner, where, places, **more):
    """Two ranks, of which the first is the client; all sizes with every octet compared."""
    return Case(f"{runner} {where}", places=places, label=label, uses=(compiler,),
                prepare=f"{compiler} -O2 -o pingpong '{os.path.join(HERE, 'mpi_pingpong.c')}'",
                checks=tuple(Shows("client", rf"^{size} octets, 100 times: [\d.]+ us$", 1)
                             for size in MPI_SIZES),
                figure=r"^4194304 octets, 100 times: ([\d.]+) (us)$", seconds=120, **more)


OPEN_MPI = ("mpirun.openmpi --allow-run-as-root --oversubscribe --mca pml cm --mca mtl ofi"
            " --mca mtl_ofi_provider_include 'verbs;ofi_rxm'")
# A rank on another host is started by what usually is ssh.
BY_AGENT = (f" --mca plm_rsh_agent '{{beside}} {os.path.join(HERE, 'instead_of_ssh')}'"
            " -x LD_LIBRARY_PATH --host {clients_host}:1,{host}:1")
# Debian's MPICH is made for UCX alone, so this one is the user's: ./configure --with-device=ch4:ofi
# --with-libfabric=/usr
MPICH = "{IWARP_MPICH}/bin/mpiexec -genv FI_PROVIDER 'verbs;ofi_rxm'"


def open_mpi(**more):
    where = "-np 2 ./pingpong"
    yield mpi("Open MPI over libfabric", "mpicc.openmpi", OPEN_MPI, where, (LOOPBACK, USER), **more)
    yield mpi("Open MPI over libfabric, from host to host", "mpicc.openmpi", OPEN_MPI + BY_AGENT,
              where, (HOSTS,), **more)


def mpich(**more):
    more.update(needs="IWARP_MPICH")
    yield mpi("MPICH over libfabric", "{IWARP_MPICH}/bin/mpicc", MPICH, "-n 2 ./pingpong",
              (LOOPBACK, USER), **more)
    yield mpi("MPICH over libfabric, from host to host", "{IWARP_MPICH}/bin/mpicc", MPICH,
              "-n 1 ./pingpong : -n 1 {beside} ./pingpong", (HOSTS,), **more)


# DAPL binds its id to the interface's address and takes the device from that; to a loopback address
# an id has none, here as in the kernel. The ports are its own.
DAPL_ENTRY = 'iwarp u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "veth0 0" ""'
DAPL_CONNECTIONS = 1000


def dapl():
    both = f"env DAT_OVERRIDE={{dir}}/dat.conf dtestcm -P iwarp -c {DAPL_CONNECTIONS}"
    shown = tuple(Shows(end, r"^ DAPL Connection Test Complete\.$", 1) for end in ("client", "server"))
    return Case(f"{both} -h {{host}}", both, port=15828, places=(HOSTS,),
                uses=("dtestcm",), prepare=f"sh -c 'echo \"$0\" >dat.conf' '{DAPL_ENTRY}'",
                checks=(*shown, Shows("client", f"ALL {DAPL_CONNECTIONS} CONNECTED on Client!", 1)),
                figure=r"CPS ([\d.]+)", unit="connections/s", label="dtestcm")


def iser():
    """libiscsi reads and writes what tgtd has on its disk. It has limits of its own: room for 256 KiB a
    request, for 256 requests at once, and one connection in a process, hence a process for each test."""
    disk = "iser://{host}:{port}/iqn.2026-01.example:disk/1"
    commands = (f"iscsi-inq -i iqn.2026-01.example:tester {disk}",
                f"iscsi-perf -i iqn.2026-01.example:tester -m 10 -b 128 -t 2 {disk}",
                *(f"iscsi-test-cu -i iqn.2026-01.example:tester -d -A -t SCSI.{test}.Simple {disk}"
                  for test in ("Read16", "Write16", "Verify16")),
                f"qemu-img dd -f raw -O raw bs=64k if=source of={disk}",
                f"qemu-img dd -f raw -O raw bs=64k if={disk} of=copy")
    return Case(f"sh -ec '{'; '.join(commands)}'", script("iser_target.py", "{host} {port}"),
                checks=(Shows("client", "Product:VIRTUAL-DISK"), SameFile("source", "copy"),
                        SameFile("source", "disk"), Shows("client", r"\.\.\.passed$", 3),
                        Never("client", r"\[FAILED\]")),
                figure=r"iops average \d+ \((\d+) (MB/s)\) +\n", ready="^the disk is there$",
                timewait_exit=True, stopped=True, places=(LOOPBACK, HOSTS),
                prepare="truncate -s 32M source", uses=("tgtd", "iscsi-inq", "qemu-img"),
                label="iscsi-inq, iscsi-perf, qemu-img, iscsi-test-cu to tgtd by iSER")


def migration():
    """A guest counts in half a megabyte of its memory while it moves to another QEMU, which goes on
    counting where the first had stopped."""
    return Case(script("migration.py", "leave {host} {port}"),
                script("migration.py", "arrive {host} {port}"),
                checks=(Shows("client", "^the guest has left$", 1),
                        Shows("server", "^the guest counts on$", 1)),
                figure=r"^down for (\d+) (ms)$", places=(LOOPBACK, HOSTS), seconds=120,
                uses=("qemu-system-x86_64",),
                label="qemu-system-x86_64 migrates a guest that writes")


def refused(command, sentence, **more):
    """What iWARP has not: the program says so and ends."""
    return Case(command, status=255, checks=(Shows("client", sentence),), places=(LOOPBACK,), **more)


CASES = (
    Case("fi_info -p verbs", checks=(Shows("client", "^provider: verbs$"),
                                     Shows("client", "protocol: FI_PROTO_IWARP$")),
         places=ANYWHERE, short=True),
    fabric_pingpong("verbs", "msg", ("64", "4k", "64k", "1m", "6m"), short=True),
    fabric_pingpong("verbs;ofi_rxm", "rdm", ("64", "4k", "64k", "1m", "6m")),
    *open_mpi(),
    *mpich(),
    dapl(),
    iser(),
    migration(),
    Case("cmtime -s {host} -p {port} -c 100", "cmtime -b {host} -p {port} -c 100",
         checks=(Shows("client", r"^disconnect +: +\d"),), figure=r"^connect +:.* ([\d.]+)$",
         unit="us/connection", stopped=True),
    refused("udaddy -s {host}", "^udaddy: unable to create QP: Operation not supported$",
            label="udaddy, refused with a sentence", short=True),
    refused("udaddy -b {host}", "^udaddy: failure trying to listen: Operation not supported$",
            label="udaddy, its server likewise"),
    refused("mckey -m 239.1.1.1 -b {host}", "^mckey: unable to create QP: Operation not supported$",
            label="mckey likewise"),
)
