#include "queue_pair.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "answer.hpp"
#include "iwarp/provider/inherited.hpp"

namespace iwarp::rnic {
namespace {

using verbs::Outcome;
using verbs::provider::QpInit;

constexpr std::chrono::hours kMaxLinger{1};

struct Limit {
  const char* what;
  std::uint32_t wanted, most;
};

Outcome<void> check_limits(const std::string& name, const verbs::QpCapacity& wanted,
                           const verbs::DeviceAttributes& can) {
  const std::array limits{Limit{"max_send_wr", wanted.max_send_wr, can.max_qp_wr},
                          Limit{"max_recv_wr", wanted.max_recv_wr, can.max_qp_wr},
                          Limit{"max_send_sge", wanted.max_send_sge, can.max_sge},
                          Limit{"max_recv_sge", wanted.max_recv_sge, can.max_sge},
                          Limit{"max_inline", wanted.max_inline, can.max_inline}};
  const auto over = std::find_if(limits.begin(), limits.end(),
                                 [](const Limit& each) { return each.wanted > each.most; });
  if (over == limits.end()) return {};
  return verbs::fail(std::errc::invalid_argument,
                     "queue pair: " + std::string(over->what) + " " + std::to_string(over->wanted) +
                         " is above the " + std::to_string(over->most) + " of " + name);
}

// Says what of it no adapter does; nothing if it can be had.
const char* lacking(const QpInit& init) {
  if (init.number != 0) return "number that the program chooses";
  if (init.connectionless) return "queue pair without a connection of its own";
  if (!init.capture.empty()) return "record of its connections";
  if (init.receive_wait.count() != 0) return "wait for receives";
  if (init.max_fpdu != 0) return "size of FPDUs that the program chooses";
  if (init.liveness.idle.count() != 0) return "limit of idle connections";
  return nullptr;
}

// From a page on, siw copies what it sends only if it is signaled. Otherwise TCP refers to the
// program's pages until the peer has acknowledged them, and nothing tells when that is
// (siw_qp_prepare_tx()). Debian's Linux 6.1.176 does so, its 6.1.192 happens to copy in either
// case, as its TCP does not know what siw asks for; another kernel's may.
std::uint32_t max_silent(const Adapter& adapter) {
  return adapter.is_siw() ? static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE)) - 1 : UINT32_MAX;
}

PostLimits post_limits(const Adapter& adapter, const verbs::QpCapacity& capacity) {
  return {capacity.max_send_sge, capacity.max_recv_sge, capacity.max_inline,
          adapter.limits.max_mw > 0, max_silent(adapter)};
}

}  // namespace

Outcome<void> check_private_data(const Adapter& adapter, std::size_t octets) {
  if (octets <= kMostPrivateData) return {};
  return verbs::fail(std::errc::invalid_argument,
                     std::to_string(octets) + " octets of private data exceed the limit of " +
                         std::to_string(kMostPrivateData) + " of " + adapter.name);
}

Outcome<void> check_options(const Adapter& adapter, const verbs::ConnectOptions& options) {
  const std::uint32_t most_ird = most_reads(adapter.limits.max_qp_rd_atom);
  const std::uint32_t most_ord = most_reads(adapter.limits.max_qp_init_rd_atom);
  if (options.ird > most_ird || options.ord > most_ord) {
    return verbs::fail(std::errc::invalid_argument,
                       "IRD " + std::to_string(options.ird) + " or ORD " +
                           std::to_string(options.ord) + " exceeds " + std::to_string(most_ird) +
                           " or " + std::to_string(most_ord) + " of " + adapter.name);
  }
  if (options.mpa_revision != 1 && options.mpa_revision != 2) {
    return verbs::fail(
        std::errc::invalid_argument,
        "MPA revision " + std::to_string(options.mpa_revision) + " is neither 1 nor 2");
  }
  const bool gives_back = options.after_rejection == verbs::AfterRejection::kGiveBack;
  const char* const lacking = options.mpa_revision == 1 ? "choice of MPA's revision"
                              : options.want_markers    ? "Markers"
                              : gives_back              ? "TCP connections to give back"
                                                        : nullptr;
  if (lacking != nullptr) {
    return verbs::fail(std::errc::not_supported, adapter.name + " has no " + lacking);
  }
  return check_private_data(adapter, options.private_data.size());
}

Outcome<std::shared_ptr<QueuePair>> QueuePair::make(const std::shared_ptr<Host>& host,
                                                    const verbs::DeviceAttributes& limits,
                                                    const std::shared_ptr<ProtectionDomain>& pd,
                                                    QpInit init) {
  const Adapter& adapter = *host->adapter();
  if (auto checked = check_limits(adapter.name, init.capacity, limits); !checked) {
    return failure(checked.error());
  }
  if (init.linger.count() < 0 || init.linger > kMaxLinger) {
    return verbs::fail(std::errc::invalid_argument, "queue pair: a linger of " +
                                                        std::to_string(init.linger.count()) +
                                                        " ms is not within 0 to 1 h");
  }
  if (const char* what = lacking(init)) {
    return verbs::fail(std::errc::not_supported, adapter.name + " has no " + what);
  }
  NativeQp::Init native;
  native.host = host;
  native.pd = pd;
  native.send_cq = std::dynamic_pointer_cast<CompletionQueue>(init.send_cq);
  native.recv_cq = std::dynamic_pointer_cast<CompletionQueue>(init.recv_cq);
  native.srq = std::dynamic_pointer_cast<SharedReceiveQueue>(init.srq);
  const auto is_own = [&](const auto& cq) { return cq != nullptr && cq->host() == host; };
  if (!is_own(native.send_cq) || !is_own(native.recv_cq)) {
    return verbs::fail(
        std::errc::invalid_argument,
        "queue pair: its completion queue is another device's than that of " + adapter.name);
  }
  if (init.srq && (!native.srq || &native.srq->pd() != pd.get())) {
    return verbs::fail(std::errc::invalid_argument,
                       "queue pair: its shared receive queue is foreign or of another PD");
  }
  native.capacity = init.capacity;
  native.signaling = init.signaling;
  native.limits = post_limits(adapter, init.capacity);
  auto made = NativeQp::make(std::move(native));
  if (!made) return failure(made.error());
  return process::make_shared_here<QueuePair>(host, std::move(*made), std::move(init));
}

QueuePair::QueuePair(std::shared_ptr<Host> host, std::shared_ptr<NativeQp> qp, QpInit init)
    : host_(std::move(host)),
      native_(std::move(qp)),
      connection_(process::make_shared_here<Connection>(host_, native_, std::move(init.on_event),
                                                        init.linger)) {
  host_->add(number(), connection_);
}

QueuePair::~QueuePair() { release(); }

void QueuePair::release() {
  if (origin_.inherited() || released_.exchange(true)) return;
  host_->remove(number());  // before another one can have the number
  connection_->release();
}

Result<void, verbs::PostError> QueuePair::post_send(std::span<const verbs::SendWr> requests,
                                                    verbs::Posting posting) {
  if (origin_.refuses()) return verbs::refused_post();
  return native_->sends().post(requests, posting);
}

Result<void, verbs::PostError> QueuePair::post_receive(std::span<const verbs::RecvWr> requests) {
  if (origin_.refuses()) return verbs::refused_post();
  if (!native_->shares_receives()) return native_->receives().post(requests);
  return failure(verbs::PostError{.code = std::errc::invalid_argument,
                                  .reason = "the queue pair receives from a shared receive queue"});
}

void QueuePair::allow_peer(verbs::Access rights) {
  if (!origin_.refuses()) native_->allow_peer(rights);
}

Outcome<void> QueuePair::connect(const verbs::Endpoint& to, const verbs::ConnectOptions& options) {
  if (origin_.refuses()) return verbs::refused();
  if (auto there = host_->adapter()->check(); !there) return there;
  if (auto checked = check_options(*host_->adapter(), options); !checked) return checked;
  return answer_of(*host_->adapter(), "the connection cannot be asked for",
                   [&] { return connection_->connect(to, options); });
}

Outcome<void> QueuePair::adopt(verbs::StreamingSocket& /*socket*/,
                               const verbs::ConnectOptions& /*options*/) {
  return verbs::fail(std::errc::not_supported,
                     host_->adapter()->name + " makes its own TCP connections: it adopts none");
}

void QueuePair::disconnect() {
  if (!origin_.refuses()) connection_->disconnect();
}

void QueuePair::close() {
  if (!origin_.refuses()) connection_->close();
}

void QueuePair::abort() {
  if (!origin_.refuses()) connection_->abort();
}

bool QueuePair::drained() const { return !origin_.inherited() && connection_->drained(); }

verbs::QpState QueuePair::state() const {
  return origin_.inherited() ? verbs::QpState::kError : connection_->state();
}

verbs::Diagnosis QueuePair::diagnosis() const {
  if (!origin_.inherited()) return connection_->diagnosis();
  return {verbs::EndedBy::kProgram,
          verbs::EndLayer::kNone,
          false,
          std::nullopt,
          "this process was forked, and the connection is its parent's",
          {}};
}

}  // namespace iwarp::rnic
