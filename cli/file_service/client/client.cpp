#include "file_service/client/client.hpp"

#include "context.hpp"
#include "interrupt.hpp"
#include "log.hpp"
#include "start_up/reach.hpp"
#include "start_up/rejection.hpp"

namespace iwarp::cli::file_service {
namespace {

// Of a server that says no more than a status.
const char* words_for(std::uint8_t code) {
  const bool known = code != static_cast<std::uint8_t>(Status::kOk) &&
                     code <= static_cast<std::uint8_t>(kLastStatus);
  return known ? describe(static_cast<Status>(code)) : nullptr;
}

}  // namespace

Client::Client(verbs::Device& device, const HostPort& server, const ClientOptions& options)
    : server_(to_string(server)), options_(options) {
  const bool invalidates = device.attributes().remote_invalidate;
  invalidated_ = invalidates ? verbs::Access::kRemoteInvalidate : verbs::Access::kNone;
  const auto hello = Hello{.keeps_stags = !invalidates}.encode();
  options_.start_up.private_data.assign(hello.begin(), hello.end());
  reach(server, [&](const verbs::Endpoint& endpoint) { connect(device, endpoint); });
  take_welcome();
}

Client::~Client() {
  if (!link_) return;
  if (sent_ == answered_) {
    link_->close();
  } else {
    // With requests under way something has gone wrong: the server shall know at once.
    link_->abort();
  }
}

void Client::connect(verbs::Device& device, const verbs::Endpoint& to) {
  // A queue pair connects once.
  link_ = std::make_unique<Link>(device, kClientLink, options_.timeout, options_.max_fpdu);
  try {
    info_ = link_->connect(to, options_.start_up, InterruptGuard::check);
  } catch (const Rejected& rejected) {
    throw CommandError(describe_rejection("connecting to " + server_, rejected.private_data(),
                                          Service::kFiles, words_for));
  }
}

void Client::take_welcome() {
  const auto welcome = Welcome::parse(info_.private_data);
  if (!welcome) {
    fail("something else than 'iwarp serve' listens there");
  }
  window_ = std::min<std::size_t>(kWindow, welcome->credits);
  chunk_ = std::min(kMaxChunk, welcome->max_chunk);
  log_debug("{}: connected, MPA revision {}, {} CRC, {} credits", server_, info_.mpa_revision,
            info_.crc ? "with" : "without", welcome->credits);
}

void Client::send(Request request) try {
  if (request.payload.size() > kMaxName) {
    throw usage_error(fmt::format("a name has at most {} octets", kMaxName));
  }
  silence_.end();
  while (link_->free_sends() == 0) wait_a_little();
  request.id = sent_++;
  link_->send(request.encode(link_->outgoing()));
} catch (const LinkLost& lost) {
  fail(lost.what());
}

Answer Client::receive(const std::string& subject) try {
  while (true) {
    const Link::Event event = next_message();
    const auto reply = ReplyView::parse(link_->message(event));
    if (!reply) fail(fmt::format("the server sent a bad answer ({})", describe(reply.error())));
    if (reply->id() != answered_) fail("the server answered a request that it was not asked");
    const Status status = reply->status();
    Answer answer{
        reply->length(), reply->position(), {reply->payload().begin(), reply->payload().end()}};
    link_->recycle(event.slot);
    if (status == Status::kWorking) continue;
    ++answered_;
    if (status == Status::kOk) return answer;
    const std::string text(reinterpret_cast<const char*>(answer.payload.data()),
                           answer.payload.size());
    throw CommandError(
        fmt::format("{}: {}{}{}", subject, describe(status), text.empty() ? "" : ": ", text));
  }
} catch (const LinkLost& lost) {
  fail(lost.what());
}

Link::Event Client::next_message() {
  silence_.end();
  while (arrived_.empty()) wait_a_little();
  const Link::Event event = arrived_.front();
  arrived_.pop_front();
  return event;
}

void Client::wait_a_little() {
  InterruptGuard::check();
  const auto event = link_->wait(kInterruptSlice);
  if (event) silence_.end();
  if (event && event->kind == Link::Event::Kind::kMessage) arrived_.push_back(*event);
  if (event || !silence_.lasts(options_.timeout, Silence::Clock::now(), link_->octets_moved())) {
    return;
  }
  link_->abort();
  fail(fmt::format("the server gave no sign of life for {} seconds",
                   std::chrono::duration<double>(options_.timeout).count()));
}

void Client::fail(const std::string& reason) const {
  throw CommandError(fmt::format("{}: {}", server_, reason));
}

}  // namespace iwarp::cli::file_service
