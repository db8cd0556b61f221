#include <algorithm>
#include <array>

#include "adapter.hpp"
#include "identity.hpp"

namespace iwarp::rnic {
namespace {

/// What a list of requests is translated with at a time has room for so many, see SendBatch.
constexpr std::uint32_t kMostSges = 32;

std::uint32_t count_of(int limit) { return limit < 0 ? 0U : static_cast<std::uint32_t>(limit); }

/// Objects by which the adapter shows what its attributes do not tell.
class Probe {
 public:
  explicit Probe(const Adapter& adapter) : core_(adapter.core) {
    pd_ = core_.ibv_alloc_pd(adapter.context);
    cq_ = core_.ibv_create_cq(adapter.context, 4, nullptr, nullptr, 0);
  }
  ~Probe() {
    if (cq_ != nullptr) core_.ibv_destroy_cq(cq_);
    if (pd_ != nullptr) core_.ibv_dealloc_pd(pd_);
  }
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  /// Whether a completion queue can be resized.
  [[nodiscard]] bool resizes() const { return cq_ != nullptr && core_.ibv_resize_cq(cq_, 8) == 0; }
  /// Whether a queue pair has so many octets inline.
  [[nodiscard]] bool grants(std::uint32_t octets) const {
    if (pd_ == nullptr || cq_ == nullptr) return false;
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq_;
    init.cap = {1, 1, 1, 1, octets};
    init.qp_type = IBV_QPT_RC;
    ibv_qp* const qp = core_.ibv_create_qp(pd_, &init);
    if (qp == nullptr) return false;
    core_.ibv_destroy_qp(qp);
    return init.cap.max_inline_data >= octets;
  }

 private:
  const RdmaCore& core_;
  ibv_pd* pd_ = nullptr;
  ibv_cq* cq_ = nullptr;
};

std::uint32_t most_inline(const Probe& probe) {
  for (const std::uint32_t octets : {1024U, 512U, 256U, 128U, 96U, 80U, 64U, 32U, 16U}) {
    if (probe.grants(octets)) return octets;
  }
  return 0;
}

// An adapter may look at a Read Response as it does at a Write, so that Linux itself asks for both
// rights with any that speaks iWARP (drivers/infiniband/core/rw.c). siw looks for the local one.
verbs::Access read_sink_of(const Adapter& adapter) {
  const auto local = verbs::Access::kLocalWrite;
  return adapter.is_siw() ? local : local | verbs::Access::kRemoteWrite;
}

}  // namespace

std::uint32_t most_reads(int limit) { return std::min<std::uint32_t>(count_of(limit), UINT8_MAX); }

verbs::DeviceAttributes attributes_of(const Adapter& adapter) {
  const ibv_device_attr& can = adapter.limits;
  const Probe probe(adapter);
  verbs::DeviceAttributes a;
  a.name = "rnic:" + adapter.name;
  a.provider = "rnic";
  a.stream = adapter.name;
  a.port = kPort;
  Identity identity = identity_of(adapter);
  a.driver = std::move(identity.driver);
  a.addresses = std::move(identity.addresses);
  a.offloads = {"full"};
  a.max_qp = count_of(can.max_qp);
  a.max_cq = count_of(can.max_cq);
  a.max_mr = count_of(can.max_mr);
  a.max_pd = count_of(can.max_pd);
  a.max_qp_wr = std::max(count_of(can.max_qp_wr), 1U) - 1;  // see SendQueue::finish()
  a.max_sge = std::min(count_of(can.max_sge), kMostSges);
  a.max_cqe = count_of(can.max_cqe);
  a.max_inline = most_inline(probe);
  a.max_ird = most_reads(can.max_qp_rd_atom);
  a.max_ord = most_reads(can.max_qp_init_rd_atom);
  a.max_mr_size = can.max_mr_size;
  a.max_private_data = kMostPrivateData;
  a.max_mw = count_of(can.max_mw);
  a.max_srq = count_of(can.max_srq);
  a.max_srq_wr = count_of(can.max_srq_wr);
  a.resizes_cq = probe.resizes();
  a.read_sink = read_sink_of(adapter);
  return a;
}

}  // namespace iwarp::rnic
