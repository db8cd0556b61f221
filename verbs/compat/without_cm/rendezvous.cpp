#include "without_cm/rendezvous.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cerrno>
#include <system_error>

#include "core/errors.hpp"
#include "core/qp.hpp"
#include "iwarp/process/forks.hpp"
#include "iwarp/process/quiet_thread.hpp"
#include "shared/stack.hpp"

namespace iwarp::compat {
namespace {

namespace ip = boost::asio::ip;

// Ports 21001 to 21511, below those that systems choose from. Slot 0 is not used.
constexpr std::uint16_t kBasePort = 21000;
constexpr std::uint32_t kSlots = 512;
constexpr unsigned kIndexBits = 14;
constexpr std::uint32_t kIndexMask = (1U << kIndexBits) - 1U;
static_assert(kSlots << kIndexBits == kManagedNumbers);

// A queue pair has one peer. There is room for its earlier lives, and for mistaken callers.
constexpr std::size_t kMostEarly = 8;

// `scope` says on which interface a link-local address is one.
verbs::Endpoint port_of(const QpIdentity& end, unsigned scope) {
  ip::address_v6::bytes_type bytes{};
  std::memcpy(bytes.data(), end.gid.raw, bytes.size());
  ip::address_v6 v6(bytes);
  const auto port = static_cast<std::uint16_t>(kBasePort + (end.qp_number >> kIndexBits));
  if (v6.is_v4_mapped()) return {ip::make_address_v4(ip::v4_mapped, v6), port};
  if (v6.is_link_local()) v6.scope_id(scope);
  return {v6, port};
}

verbs::Endpoint local_part(const QpIdentity& end, unsigned scope) {
  return {port_of(end, scope).address(), 0};
}

bool meets_still(const verbs::provider::Qp& qp) {
  return qp.state() == verbs::QpState::kIdle || qp.state() == verbs::QpState::kConnecting;
}

}  // namespace

// A forked process has its own numbers, at a port of its own.
Rendezvous& Rendezvous::get() { return process::of_this_process<Rendezvous>(); }

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

// On InfiniBand a queue pair in RTR waits for ever. Only one that sends gives up: expect().
int Rendezvous::meet(const std::shared_ptr<verbs::provider::Qp>& qp, const Greeting& ends,
                     unsigned scope, verbs::ConnectOptions options) {
  if (ends.from == ends.to) return EINVAL;
  if (ends.from < ends.to) {
    options.private_data = encode(ends);
    options.retry_refused = kLongestWait;
    options.timeout = kLongestWait;
    options.from = local_part(ends.from, scope);
    const auto started = qp->connect(port_of(ends.to, scope), options);
    return started ? 0 : errno_of(started.error().code);
  }
  std::unique_ptr<verbs::provider::IncomingConnection> request;
  {
    const std::lock_guard lock(mutex_);
    request = take_early(ends);
    if (request == nullptr) {
      waiting_.insert_or_assign(ends.from.qp_number, Waiting{qp, ends.to, std::move(options)});
      return 0;
    }
  }
  return take(*request, qp, options);
}

void Rendezvous::expect(const std::shared_ptr<verbs::provider::Qp>& qp,
                        std::chrono::nanoseconds patience) {
  const std::lock_guard lock(mutex_);
  if (!meets_still(*qp)) return;
  expecting_.insert_or_assign(qp->number(),
                              Expecting{qp, {std::chrono::steady_clock::now(), patience}});
  if (watched_) return;
  try {
    process::quiet_thread([this] { watch(); }).detach();
    watched_ = true;
  } catch (const std::system_error&) {
    // No thread is to be had: the next one that sends tries again.
  }
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
  decltype(waiting_)::node_type gone;  // these outlive the lock
  decltype(early_)::node_type unanswered;
  const std::lock_guard lock(mutex_);
  gone = waiting_.extract(qp.number());
  unanswered = early_.extract(qp.number());
  expecting_.erase(qp.number());
}

// Under the lock. None if the peer has not called yet.
std::unique_ptr<verbs::provider::IncomingConnection> Rendezvous::take_early(const Greeting& ends) {
  const auto found = early_.find(ends.from.qp_number);
  if (found == early_.end()) return nullptr;
  std::vector<Early>& calls = found->second;
  const auto call = std::find_if(calls.begin(), calls.end(), [&ends](const Early& each) {
    return each.greeting.from == ends.to && each.greeting.to == ends.from;
  });
  if (call == calls.end()) return nullptr;
  auto request = std::move(call->request);
  calls.erase(call);
  if (calls.empty()) early_.erase(found);
  return request;
}

// Under the lock; outside it goes what this one takes the place of: the same peer's in an earlier
// life, or the oldest.
std::unique_ptr<verbs::provider::IncomingConnection> Rendezvous::keep_early(Early early) {
  std::vector<Early>& calls = early_[early.greeting.to.qp_number];
  auto replaced = std::find_if(calls.begin(), calls.end(), [&early](const Early& each) {
    return each.greeting.from == early.greeting.from;
  });
  if (replaced == calls.end() && calls.size() >= kMostEarly) replaced = calls.begin();
  std::unique_ptr<verbs::provider::IncomingConnection> goes;
  if (replaced != calls.end()) {
    goes = std::move(replaced->request);
    calls.erase(replaced);
  }
  calls.push_back(std::move(early));
  return goes;
}

// On one of the stack's threads. What is not for us is rejected by letting it go.
void Rendezvous::arrive(std::unique_ptr<verbs::provider::IncomingConnection> request) {
  const auto greeting = decode_greeting(request->info().private_data);
  if (!greeting) return;
  decltype(waiting_)::node_type ready;
  std::unique_ptr<verbs::provider::IncomingConnection> replaced;
  {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(greeting->to.qp_number);
    if (found == waiting_.end() || !(found->second.peer == greeting->from)) {
      if (find_qp(greeting->to.qp_number) == nullptr) return;
      replaced = keep_early({*greeting, std::move(request)});
      return;
    }
    ready = waiting_.extract(found);
  }
  const Waiting& met = ready.mapped();
  static_cast<void>(take(*request, met.qp, met.options));  // its failure is the queue pair's
}

// Ends what has something to send and waits too long; its own thread, as long as there is any.
void Rendezvous::watch() {
  constexpr std::chrono::milliseconds kTick{200};
  for (;;) {
    std::this_thread::sleep_for(kTick);
    std::vector<std::shared_ptr<verbs::provider::Qp>> looked_at, late;  // outlive the lock
    {
      const std::lock_guard lock(mutex_);
      const auto now = std::chrono::steady_clock::now();
      for (auto each = expecting_.begin(); each != expecting_.end();) {
        auto qp = looked_at.emplace_back(each->second.qp.lock());
        const bool meets = qp != nullptr && meets_still(*qp);
        // A tick, in which the stack's threads read what had come, lies between the end of the time
        // and this.
        const bool over = meets && each->second.patience.look(now) == Deadline::Verdict::kPassed;
        if (over) {
          late.push_back(std::move(qp));
          waiting_.erase(each->first);
        }
        each = meets && !over ? std::next(each) : expecting_.erase(each);
      }
      if (expecting_.empty() && late.empty()) {
        watched_ = false;
        return;
      }
    }
    for (const auto& each : late) each->abort();
  }
}

}  // namespace iwarp::compat
