#include "file_service/server/session.hpp"

#include <algorithm>

#include "address.hpp"
#include "context.hpp"
#include "file_service/server/stranger_log.hpp"
#include "format.hpp"
#include "interrupt.hpp"
#include "log.hpp"
#include "text/utf8.hpp"

namespace iwarp::cli::file_service {
namespace {

using process::LogLevel;

std::string summary(std::uint64_t octets, std::chrono::steady_clock::time_point since) {
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - since;
  return fmt::format("{} in {}, {}", human_size(octets), human_duration(took.count()),
                     human_rate(static_cast<double>(octets) / took.count()));
}

/// Whether all octets of the operation have moved before.
bool completes(Operation operation) {
  return operation == Operation::kCommit || operation == Operation::kFinish;
}

std::string in_quotes(std::string_view name) { return "'" + printable(std::string(name)) + "'"; }

}  // namespace

Session::Session(verbs::Device& device, const Store& store, BufferBudget& budget, Standing standing,
                 const SessionTimeouts& timeouts, std::uint32_t max_fpdu, UseHandler on_use)
    : store_(store),
      budget_(budget),
      standing_(standing),
      timeouts_(timeouts),
      link_(device, kServerLink, timeouts.stall, max_fpdu),
      on_use_(std::move(on_use)) {}

void Session::run(verbs::ConnectionRequest request, const verbs::ConnectOptions& options) {
  peer_ = to_string(request.info().remote);
  const auto hello = Hello::parse(request.private_data());
  keeps_stags_ = hello && hello->keeps_stags;
  try {
    link_.accept(request, options);
    accepted_ = true;
    log_debug("{}: connected", peer_);
    serve();
    see_off();
    link_.abort();
  } catch (const LinkLost& lost) {
    log_loss(lost.what());
    link_.abort();
  } catch (const std::exception& error) {
    log_of_strangers(Told::kDropped, LogLevel::kWarn,
                     [&] { return fmt::format("{}: dropped: {}", peer_, cli::describe(error)); });
    link_.abort();
  }
}

void Session::stop() {
  stopping_ = true;
  // Nothing has been said yet, and a client that does not finish its start-up need not be awaited.
  if (!accepted_) link_.abort();
}

SlotUse Session::use(Clock::time_point now) {
  const std::uint64_t octets = link_.octets_moved();
  if (std::exchange(octets_seen_, octets) != octets) moved_ = now;
  if (!asked_) return SlotUse::kNothingAsked;
  if (quiet() && !under_way()) return SlotUse::kIdle;
  if (in_line()) return SlotUse::kInLine;
  if (now - moved_ < timeouts_.stall_while_full) return SlotUse::kInUse;
  return standing() == Standing::kKnown ? SlotUse::kTransferRests : SlotUse::kStrangerRests;
}

void Session::tell_use(SlotUse use) {
  if (std::exchange(told_use_, use) != use) on_use_(use);
}

void Session::serve() {
  while (true) {
    ending_ = stopping_;
    if (ending_ && finished()) return;
    take_requests();
    tell_use(use(Clock::now()));
    if (const auto event = next_event()) {
      moved_ = Clock::now();
      handle(*event);
      silence_.end();
      continue;
    }
    if (waits_in_line()) continue;
    const auto [limit, reason] = patience();
    if (silence_.lasts(limit, Clock::now(), link_.octets_moved())) throw LinkLost(reason);
  }
}

// A client that stands in line hears that it has not been forgotten: it would give up.
std::optional<Link::Event> Session::next_event() {
  if (!in_line()) return link_.wait(slice());
  if (auto event = link_.wait(std::chrono::milliseconds(0))) return event;
  link_.sleep(kIdleSlice);
  moved_ = Clock::now();
  if (waits_in_line()) link_.show_life();
  return std::nullopt;
}

bool Session::in_line() const { return (put_ && put_->in_line()) || (get_ && get_->in_line()); }

// As long as nothing has moved so far, so that clients at rest take no time of those that work.
std::chrono::milliseconds Session::slice() const {
  const auto longest = std::max(kInterruptSlice, std::min(kIdleSlice, patience().limit / 4));
  const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - moved_);
  return std::clamp(rest, kInterruptSlice, longest);
}

void Session::see_off() {
  link_.close();
  Silence silence;
  while (!link_.over(kInterruptSlice)) {
    if (silence.lasts(timeouts_.stall, Clock::now(), link_.octets_moved())) return;
  }
}

bool Session::finished() const { return quiet() && (refused_ || !under_way()); }

bool Session::under_way() const {
  return put_ || get_ || (list_ && !list_->ended()) || !waiting_.empty();
}

void Session::handle(const Link::Event& event) {
  switch (event.kind) {
    case Link::Event::Kind::kMessage: {
      const auto request = RequestView::parse(link_.message(event));
      if (!request) throw ProtocolViolation(describe(request.error()));
      waiting_.push_back({event.slot, *request});
      asked_ = true;
      tell_use(SlotUse::kInUse);  // before it is answered
      return;
    }
    case Link::Event::Kind::kRead: return put_->on_read();
    case Link::Event::Kind::kSent:
      if (event.tag != static_cast<std::uint8_t>(AnswerTag::kDataBuffer)) return;
      if (get_) return get_->on_sent();
      return list_->on_sent();
  }
}

bool Session::quiet() const {
  return link_.free_sends() == kServerLink.sends && !(put_ && put_->reading());
}

bool Session::can_take(Operation operation) const {
  // A refusal comes behind all other answers, and nothing comes behind a refusal.
  if (ending_) return quiet() && !refused_;
  // The reserve is for the answers to the chunks that are being read.
  if (link_.free_sends() <= kWindow) return false;
  switch (operation) {
    case Operation::kPutChunk: return !put_ || put_->can_take();
    case Operation::kGetChunk: return !get_ || get_->can_take();
    case Operation::kListMore: return !list_ || list_->can_take();
    // These start or end an operation, and with it the life of its buffers.
    default: return quiet();
  }
}

void Session::take_requests() {
  while (!waiting_.empty() && can_take(waiting_.front().request.operation())) {
    const Waiting next = waiting_.front();
    waiting_.pop_front();
    Job job{next.request.id(), next.receive_slot};
    if (has_buffer(next.request.operation())) job.buffer = next.request.buffer();
    job.keeps_stag = keeps_stags_;
    take(job, next.request);
  }
}

void Session::take(const Job& job, const RequestView& request) {
  if (ending_ && !completes(request.operation())) return refuse(job);
  switch (request.operation()) {
    case Operation::kOpenPut: return open_put(job, request);
    case Operation::kOpenGet: return open_get(job, request);
    case Operation::kList: return list(job, request);
    case Operation::kPutChunk:
      if (put_) return put_->take_chunk(job, request.position());
      break;
    case Operation::kCommit:
      if (put_) return commit(job, request);
      break;
    case Operation::kGetChunk:
      if (get_) return get_->take_chunk(job, request.position());
      break;
    case Operation::kFinish:
      if (get_) return finish(job);
      break;
    case Operation::kListMore:
      if (list_) return list_->take_page(job);
      break;
  }
  throw ProtocolViolation("a request outside its operation");
}

void Session::refuse(const Job& job) {
  log_loss("the server ends");
  put_.reset();
  get_.reset();
  list_.reset();
  answer_failure(link_, job, Status::kEnded);
  refused_ = true;
}

void Session::fail_to_open(const Job& job, const std::error_code& error) {
  answer_failure(link_, job, error);
  served_ = true;
}

void Session::open_put(const Job& job, const RequestView& request) {
  if (put_ || get_) throw ProtocolViolation("an operation inside another");
  const PutOperation::Target target{std::string(request.name()), request.position(),
                                    request.hash()};
  FileResult<PendingFile> file = store_.create_file(target.name, target.size);
  if (!file) return fail_to_open(job, file.error());
  put_ = std::make_unique<PutOperation>(link_, budget_, standing(), *std::move(file), target);
  operation_started_ = Clock::now();
  answer(link_, job, {});
}

void Session::commit(const Job& job, const RequestView& request) {
  const bool done = put_->commit(job, request);
  served_ = true;
  const std::string name = in_quotes(put_->target().name);
  if (done) {
    log_info("{}: put {}, {}", peer_, name, summary(put_->target().size, operation_started_));
  } else {
    log_of_strangers(Told::kFailedPut, LogLevel::kWarn,
                     [&] { return fmt::format("{}: put {} failed", peer_, name); });
  }
  put_.reset();
}

void Session::open_get(const Job& job, const RequestView& request) {
  if (put_ || get_) throw ProtocolViolation("an operation inside another");
  FileResult<Store::ReadableFile> file = store_.open_file(request.name());
  if (!file) return fail_to_open(job, file.error());
  list_.reset();
  get_ = std::make_unique<GetOperation>(link_, budget_, standing(), *std::move(file),
                                        std::string(request.name()), request.hash());
  operation_started_ = Clock::now();
  answer(link_, job, {.position = get_->size()});
}

void Session::finish(const Job& job) {
  const bool done = get_->finish(job);
  served_ = true;
  const std::string name = in_quotes(get_->name());
  if (done) {
    log_info("{}: get {}, {}", peer_, name, summary(get_->size(), operation_started_));
  } else {
    log_of_strangers(Told::kFailedGet, LogLevel::kWarn,
                     [&] { return fmt::format("{}: get {} failed", peer_, name); });
  }
  get_.reset();
}

void Session::list(const Job& job, const RequestView& request) {
  if (put_ || get_) throw ProtocolViolation("an operation inside another");
  list_.reset();
  auto started = start_listing(link_, store_, request.name());
  if (!started) return fail_to_open(job, started.error());
  list_ = *std::move(started);
  list_->take_page(job);
  served_ = true;  // how many more pages there are it says itself
}

Session::Patience Session::patience() const {
  if (!asked_) return {timeouts_.first_request, "no request came"};
  if (!quiet() || ending_) return {timeouts_.stall, "nothing moved for too long"};
  return {timeouts_.idle, "no request came for too long"};
}

void Session::log_loss(const char* reason) const {
  if (put_) {
    log_of_strangers(Told::kFailedPut, LogLevel::kWarn, [&] {
      return fmt::format("{}: put {} interrupted: {}", peer_, in_quotes(put_->target().name),
                         reason);
    });
  } else if (get_) {
    log_of_strangers(Told::kFailedGet, LogLevel::kWarn, [&] {
      return fmt::format("{}: get {} interrupted: {}", peer_, in_quotes(get_->name()), reason);
    });
  } else {
    log_debug("{}: gone: {}", peer_, reason);
  }
}

}  // namespace iwarp::cli::file_service
