#include "soft/startup/initiator/connect_session.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "iwarp/provider/failure.hpp"
#include "soft/interface.hpp"
#include "soft/mpa_offload.hpp"
#include "soft/startup/close.hpp"
#include "soft/startup/error.hpp"
#include "soft/startup/initiator/terminate.hpp"
#include "soft/startup/options.hpp"

namespace iwarp::verbs::soft {
namespace {

// They grow: the peer may take hours.
constexpr std::chrono::milliseconds kFirstRefusedPause{20}, kLongestRefusedPause{200};
// What that and one attempt take together where the network is slow.
constexpr std::chrono::milliseconds kSlowRefusal{500};

// The program, or its host.
bool may_be_there_later(const std::error_code& error) {
  return error == std::errc::connection_refused || error == std::errc::timed_out ||
         error == std::errc::host_unreachable;
}

Endpoint any_of_family(const Endpoint& like, std::uint16_t port) {
  const Address any = like.address().is_v6() ? Address(std::array<std::uint8_t, 16>{}) : Address();
  return Endpoint(any, port);
}

std::chrono::milliseconds longer(std::chrono::milliseconds pause) {
  return std::min(pause * 2, kLongestRefusedPause);
}

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace

ConnectSession::ConnectSession(tcp_offload::Device& device, const Endpoint& to,
                               ConnectOptions options, mpa::Initiator initiator,
                               StartupHandler handler, StreamingConnection adopted)
    : Session(std::move(handler)),
      device_(device),
      to_(to),
      options_(std::move(options)),
      already_read_(std::move(adopted.already_read)),
      refused_pause_(kFirstRefusedPause),
      connection_(std::move(adopted.connection)) {
  exchange_.emplace(std::move(initiator));
}

template <typename Step>
void ConnectSession::attempt(Step step) {
  const auto self = shared_from_this();
  try {
    step();
  } catch (const std::exception& thrown) {
    if (reported()) throw;  // the program's own, which has been told
    finish(short_error_of(thrown, [this] { return what_failed("connecting to "); }));
  }
}

void ConnectSession::begin() {
  attempt([this] { begin_attempt(); });
}

void ConnectSession::begin_attempt() {
  timer_.emplace(device_);
  timer_->start(bounded(options_.timeout), [this] { attempt([this] { on_timeout(); }); });
  refusals_.emplace(device_.now(), bounded(options_.retry_refused), kSlowRefusal);
  if (connection_ == nullptr) return connect();
  exchange();
}

void ConnectSession::drop() {
  attempt_.reset();
  connection_.reset();
  timer_.reset();
  pause_.reset();
  already_read_ = std::vector<std::byte>();  // the owner keeps this as long as the queue pair
}

void ConnectSession::connect() {
  const bool any = options_.from.address().is_unspecified();
  tcp_offload::LocalEnd from(any ? any_of_family(to_, options_.from.port()) : options_.from);
  from.traffic_class = options_.traffic_class;
  attempt_ = device_.async_connect_from(
      from, to_,
      [this](std::error_code error, std::unique_ptr<tcp_offload::Connection> connection) {
        attempt([&] { on_connected(error, std::move(connection)); });
      });
}

void ConnectSession::on_connected(std::error_code error,
                                  std::unique_ptr<tcp_offload::Connection> connection) {
  if (may_be_there_later(error) && may_try_again()) {
    pause_ = device_.make_timer();
    const auto pause = std::exchange(refused_pause_, longer(refused_pause_));
    pause_->async_wait(pause, [this](std::error_code stopped) {
      if (!stopped) attempt([this] { connect(); });
    });
    return;
  }
  if (error) return finish(stream_error(what_failed("connecting to "), error));
  connection_ = std::move(connection);
  exchange();
}

// After a time in which this process did not run the peer is asked once more: it may listen by now.
bool ConnectSession::may_try_again() {
  return options_.retry_refused.count() > 0 &&
         refusals_->look(device_.now()) != Deadline::Verdict::kPassed;
}

void ConnectSession::exchange() {
  exchange_->start(*connection_, already_read_, [this] { attempt([this] { judge(); }); });
}

void ConnectSession::on_timeout() {
  const bool connected = connection_ != nullptr;
  const std::string time = to_text(options_.timeout);
  finish(Error{std::make_error_code(std::errc::timed_out),
               connected ? what_failed("the MPA start-up with ") + ": no whole MPA reply within " +
                               time + ", " + heard_so_far()
                         : what_failed("connecting to ") + ": no TCP connection within " + time});
}

std::string ConnectSession::heard_so_far() const {
  const std::size_t octets = exchange_->received();
  if (octets == 0) return "and not an octet of one";
  return "only " + std::to_string(octets) + (octets == 1 ? " octet of one" : " octets of one");
}

void ConnectSession::judge() {
  std::visit(Overloaded{[](const mpa::Pending&) {},
                        [this](const mpa::Accepted& accepted) { succeed(accepted); },
                        [this](const mpa::Rejected& rejected) { reject(rejected); },
                        [this](const mpa::Failed& failed) { fail(failed); }},
             exchange_->outcome());
}

void ConnectSession::succeed(const mpa::Accepted& accepted) {
  RdmaMode mode;
  mode.role = Role::kInitiator;
  mode.agreed = accepted.agreed;
  mode.rtr = accepted.rtr;
  mode.info = info_of(accepted.agreed, accepted.private_data);
  mode.info.rfc7306 = options_.rfc7306;
  mode.info.local = connection_->local();
  mode.info.remote = connection_->remote();
  mode.already_read = exchange_->behind_reply().size();
  mode.offloads = device_.offloads();
  mode.stream = connection_->hand_over(exchange_->behind_reply(), mpa_terms(accepted.agreed.modes));
  if (mode.stream != nullptr) return finish(std::move(mode));
  exchange_->on_local_error();  // the peer is told if it can be (RFC 6581 §9.3)
  judge();
}

void ConnectSession::reject(const mpa::Rejected& rejected) {
  StartupRejected result;
  result.private_data.assign(rejected.private_data.begin(), rejected.private_data.end());
  if (rejected.peer) {
    result.ird = value_if_stated(rejected.peer->ird);
    result.ord = value_if_stated(rejected.peer->ord);
  }
  if (options_.after_rejection == AfterRejection::kGiveBack) {
    const ConstBytes behind = exchange_->behind_reply();
    result.kept = {std::move(connection_), {behind.begin(), behind.end()}};
  }
  finish(std::move(result));
}

void ConnectSession::fail(const mpa::Failed& failed) {
  if (failed.fallback == mpa::Fallback::kPermitted) return fall_back();
  const std::string what = what_failed("the MPA start-up with ");
  Error error = failed.error == mpa::Error::kConnectionLost ? stream_error(what, exchange_->lost())
                                                            : mpa_error(what, failed.error);
  if (failed.error == mpa::Error::kConnectionLost) {
    error.message += " before there was a whole MPA reply, " + heard_so_far();
  }
  if (failed.terminate) return send_terminate(*failed.terminate, std::move(error));
  finish(std::move(error));
}

// RFC 6581 §10. The timer runs on.
void ConnectSession::fall_back() {
  fell_back_ = true;
  connection_.reset();
  const auto again = mpa::revision_1_fallback(initiator_options(options_).value());
  exchange_.emplace(mpa::Initiator::create(again).value());
  connect();
}

void ConnectSession::send_terminate(const mpa::TerminateOrder& order, Error error) {
  terminate_ = terminate_fpdu(order);
  connection_->async_write(
      terminate_, [this, why = std::move(error)](std::error_code write_error, std::size_t) mutable {
        attempt([&] {
          if (!write_error) close_gently(device_, std::move(connection_));
          finish(std::move(why));
        });
      });
}

// A socket that was adopted is not confined to the device's interface.
std::string ConnectSession::what_failed(const char* doing) const {
  return doing + to_text(to_) + (attempt_ == nullptr ? "" : by_interface(device_)) +
         (fell_back_ ? " with MPA revision 1, after revision 2," : "") + " failed";
}

}  // namespace iwarp::verbs::soft
