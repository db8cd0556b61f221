#include "hand/rendezvous.hpp"

#include <algorithm>
#include <cerrno>

#include "core/errors.hpp"
#include "core/qp.hpp"
#include "core/stack.hpp"
#include "iwarp/tcp_offload/process.hpp"
#include "iwarp/tcp_offload/quiet_thread.hpp"

namespace iwarp::compat {
namespace {

namespace ip = boost::asio::ip;

// Ports 21001 to 21511, below those that systems choose from. Slot 0 is nobody's.
constexpr std::uint16_t kBasePort = 21000;
constexpr std::uint32_t kSlots = 512;
constexpr unsigned kIndexBits = 14;
constexpr std::uint32_t kIndexMask = (1U << kIndexBits) - 1U;
static_assert(kSlots << kIndexBits == kManagedNumbers);

constexpr std::size_t kMostEarly = 1024;
// A peer's program may take its time between the exchange and its own call.
constexpr std::chrono::seconds kMeetingPatience{30};

verbs::Endpoint port_of(const HandEnd& end) {
  ip::address_v6::bytes_type bytes{};
  std::memcpy(bytes.data(), end.gid.raw, bytes.size());
  const ip::address_v6 v6(bytes);
  const auto port = static_cast<std::uint16_t>(kBasePort + (end.qp_number >> kIndexBits));
  if (v6.is_v4_mapped()) return {ip::make_address_v4(ip::v4_mapped, v6), port};
  return {v6, port};
}

Deadline patience_from_now() { return {std::chrono::steady_clock::now(), kMeetingPatience}; }

// A tick of the watch, in which the stack's threads read what had come, lies between the end of the
// time and this.
bool gives_up(Deadline& patience, Deadline::TimePoint now) {
  return patience.look(now) == Deadline::Verdict::kPassed;
}

verbs::Endpoint local_part(const HandEnd& end) { return {port_of(end).address(), 0}; }

}  // namespace

// A forked process has its own numbers, at a port of its own.
Rendezvous& Rendezvous::get() { return tcp_offload::of_this_process<Rendezvous>(); }

std::uint32_t Rendezvous::take_number() {
  const std::lock_guard lock(mutex_);
  if (slot_ == 0 && !listen()) return 0;
  for (std::uint32_t tries = 0; tries <= kIndexMask; ++tries) {
    const std::uint32_t number = slot_ << kIndexBits | (next_++ & kIndexMask);
    if (find_qp(number) == nullptr) return number;
  }
  return 0;
}

bool Rendezvous::listen() {
  provider_ = provider();
  if (provider_ == nullptr) return false;
  for (std::uint32_t slot = 1; slot < kSlots; ++slot) {
    for (const ip::address& any :
         {ip::address(ip::address_v6::any()), ip::address(ip::address_v4::any())}) {
      auto made =
          provider_->listen({any, static_cast<std::uint16_t>(kBasePort + slot)}, {},
                            [this](std::unique_ptr<verbs::provider::IncomingConnection> request) {
                              arrive(std::move(request));
                            });
      if (made) {
        listener_ = std::move(*made);
        slot_ = slot;
        return true;
      }
      // A system without IPv6 has the other.
      if (made.error().code == std::errc::address_in_use) break;
    }
  }
  return false;
}

int Rendezvous::meet(const std::shared_ptr<verbs::provider::Qp>& qp, const Greeting& ends,
                     verbs::ConnectOptions options) {
  if (ends.from == ends.to) return EINVAL;
  if (ends.from < ends.to) {
    options.private_data = encode(ends);
    options.retry_refused = kMeetingPatience;
    options.timeout = kMeetingPatience;
    options.from = local_part(ends.from);
    const auto started = qp->connect(port_of(ends.to), options);
    return started ? 0 : errno_of(started.error().code);
  }
  std::unique_ptr<verbs::provider::IncomingConnection> request;
  {
    const std::lock_guard lock(mutex_);
    const auto early = std::find_if(early_.begin(), early_.end(), [&ends](const Early& each) {
      return each.greeting.from == ends.to && each.greeting.to == ends.from;
    });
    if (early == early_.end()) {
      waiting_.insert_or_assign(ends.from.qp_number,
                                Waiting{qp, ends.to, std::move(options), patience_from_now()});
      watch();
      return 0;
    }
    request = std::move(early->request);
    early_.erase(early);
  }
  return take(*request, qp, options);
}

// A peer that has gone meanwhile is no error of the program's: on InfiniBand nothing would show it
// here, only what is sent later.
int Rendezvous::take(verbs::provider::IncomingConnection& request,
                     const std::shared_ptr<verbs::provider::Qp>& qp,
                     const verbs::ConnectOptions& options) {
  const auto accepted = request.accept(qp, options);
  if (accepted) return 0;
  const int error = errno_of(accepted.error().code);
  if (error == EINVAL || error == EISCONN) return error;
  qp->abort();
  return 0;
}

void Rendezvous::forget(const verbs::provider::Qp& qp) {
  decltype(waiting_)::node_type gone;  // outlives the lock
  const std::lock_guard lock(mutex_);
  gone = waiting_.extract(qp.number());
}

// On one of the stack's threads. What is not for us is rejected by letting it go.
void Rendezvous::arrive(std::unique_ptr<verbs::provider::IncomingConnection> request) {
  const auto greeting = decode_greeting(request->info().private_data);
  if (!greeting) return;
  decltype(waiting_)::node_type ready;
  {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(greeting->to.qp_number);
    if (found == waiting_.end() || !(found->second.peer == greeting->from)) {
      if (find_qp(greeting->to.qp_number) == nullptr || early_.size() >= kMostEarly) return;
      early_.push_back({*greeting, std::move(request), patience_from_now()});
      watch();
      return;
    }
    ready = waiting_.extract(found);
  }
  const Waiting& met = ready.mapped();
  static_cast<void>(take(*request, met.qp, met.options));  // its failure is the queue pair's
}

void Rendezvous::watch() {
  if (!std::exchange(watched_, true)) {
    tcp_offload::quiet_thread([this] { give_up_some(); }).detach();
  }
}

// Ends what has waited too long; its own thread, as long as anything waits.
void Rendezvous::give_up_some() {
  constexpr std::chrono::milliseconds kTick{200};
  for (;;) {
    std::vector<Waiting> late;
    std::vector<Early> stale;
    {
      std::this_thread::sleep_for(kTick);
      const std::lock_guard lock(mutex_);
      const auto now = std::chrono::steady_clock::now();
      for (auto each = waiting_.begin(); each != waiting_.end();) {
        if (!gives_up(each->second.patience, now)) {
          ++each;
          continue;
        }
        late.push_back(std::move(each->second));
        each = waiting_.erase(each);
      }
      for (auto each = early_.begin(); each != early_.end();) {
        if (!gives_up(each->patience, now)) {
          ++each;
          continue;
        }
        stale.push_back(std::move(*each));
        each = early_.erase(each);
      }
      watched_ = !waiting_.empty() || !early_.empty();
      if (!watched_ && late.empty()) return;
      watched_ = true;
    }
    for (const Waiting& each : late) each.qp->abort();
  }
}

}  // namespace iwarp::compat
