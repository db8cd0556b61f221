"""What is known of rdma-core's own tests on this stack, and the check that nothing else came of them.
docs/run.md says the same in fewer words."""

import dataclasses
import fnmatch
import re

# Each reason with the tests it is for: names, or patterns as of file names, without "tests.".

FAILS = {
    "a Write is complete when TCP has it; what the peer says of it ends the connection (RFC 5041 §5.4)": (
        "test_mr.MRTest.test_mr_rereg_access_bad_flow",
        "test_mr.MWTest.test_invalidate_mw_type1",
        "test_mr.MWTest.test_mw_type2_invalidate_*",
        "test_qpex.QpExTestCase.test_qp_ex_rc_bind_mw"),
    "likewise of a Send; and a queue pair that was connected does not come back to RESET": (
        "test_mr.MRTest.test_mr_rereg_addr",
        "test_mr.MRTest.test_mr_rereg_pd"),
    "the time-out of an acknowledgement is TCP's, and no attribute of a queue pair": (
        "test_rdmacm.CMTestCase.test_rdmacm_async_traffic",),
    "an iWARP connection is ESTABLISHED when its reply has come; CONNECT_RESPONSE is InfiniBand's": (
        "test_rdmacm.CMTestCase.test_rdmacm_async_traffic_external_qp",),
    "no datagrams: an id of RDMA_PS_UDP gets no queue pair": (
        "test_rdmacm.CMTestCase.test_rdmacm_async_udp_traffic",),
    "a context has no descriptor that could be handed to another process": (
        "test_shared_pd.SharedPDTestCase.test_imported_rc_ex_rdma_write",),
}

SKIPS = {
    "for adapters of a vendor": ("test_mlx5_*", "test_efa*", "test_cuda_dmabuf.*"),
    "no datagrams (UD), unreliable connections (UC) and raw packets": (
        "test_addr.AHTest.*", "test_cq.CQTest.test_resize_cq",
        "test_cq_events.CqEventsTestCase.test_cq_events_ud", "test_cqex.CqExTestCase.test_ud_*",
        "test_flow.*", "test_odp.OdpTestCase.test_odp_ud_traffic",
        "test_parent_domain.ParentDomainTrafficTest.test_mem_align_ud_traffic",
        "test_qp.QPTest.test_*_ud_*", "test_qp.QPTest.test_*_uc_*", "test_qp.QPTest.test_*_raw_*",
        "test_qp.QPTest.test_query_data_in_order", "test_qpex.QpExTestCase.test_qp_ex_ud_*",
        "test_qpex.QpExTestCase.test_*_bad_flow", "test_relaxed_ordering.RoTestCase.test_ro_ud_*",
        "test_rss_traffic.*"),
    "no multicast": ("test_rdmacm.CMTestCase.test_rdmacm_async_*multicast_traffic",),
    "no XRC": (
        "test_atomic.AtomicTest.test_xrc_*", "test_cqex.CqExTestCase.test_xrc_*",
        "test_odp.OdpTestCase.test_odp_xrc_traffic", "test_qpex.QpExTestCase.test_qp_ex_xrc_*",
        "test_relaxed_ordering.RoTestCase.test_ro_xrc_*"),
    "no such message in RFC 5040 and RFC 7306": (
        "test_qpex.QpExTestCase.test_qp_ex_rc_send_imm",
        "test_qpex.QpExTestCase.test_qp_ex_rc_atomic_write"),
    "no matching of tags": ("test_tag_matching.*",),
    "a device of this host's memory has none of its own, and no other device's": (
        "test_device.DMTest.*", "test_device.SharedDMTest.*", "test_mr.DeviceMemory*",
        "test_mr.DmaBuf*"),
    "the table of GIDs has no holes": ("test_device.DeviceTest.test_query_gid_ex_bad_flow",),
}

# What passes if the machine has what it takes, and else is skipped.
DEPENDS = {
    "huge pages": (
        "test_odp.OdpTestCase.test_odp_rc_huge_*",
        "test_parent_domain.ParentDomainTrafficTest.test_huge_page_traffic"),
}

LEAST_PASSES = 71


def matches(table, name):
    return any(fnmatch.fnmatchcase(name, pattern) for patterns in table.values()
               for pattern in patterns)


def expected(name):
    """The outcomes that are right."""
    if matches(DEPENDS, name):
        return ("pass", "skip")
    if matches(FAILS, name):
        return ("fail",)
    return ("skip",) if matches(SKIPS, name) else ("pass",)


@dataclasses.dataclass(frozen=True)
class KnownOutcomes:
    """rdma_core_suite.py printed the outcome of each test, and it is the one in the tables; each of
    their patterns is for some test."""
    end: str = "client"

    def problem(self, outcome):
        said = outcome.said(self.end)
        lines = re.findall(r"^(pass|fail|skip) tests\.([\w.]+)(.*)$", said, re.MULTILINE)
        ran = re.search(r"^(\d+) passed, of (\d+) on \w+$", said, re.MULTILINE)
        if not ran or int(ran[2]) != len(lines):
            return "the tests did not come to their end"
        for result, name, reason in lines:
            if result not in expected(name):
                return f"{name} is no {expected(name)[0]} but a {result}{reason}"
        names = [name for _, name, _ in lines]
        for pattern in (each for table in (FAILS, SKIPS, DEPENDS) for patterns in table.values()
                        for each in patterns):
            if not fnmatch.filter(names, pattern):
                return f"no test is called {pattern}"
        passes = sum(result == "pass" for result, _, _ in lines)
        return None if passes >= LEAST_PASSES else f"{passes} passed, not {LEAST_PASSES}"
