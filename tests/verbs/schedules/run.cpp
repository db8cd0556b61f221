#include "verbs/schedules/run.hpp"

#include <algorithm>
#include <utility>

#include "verbs/cut_stream.hpp"
#include "verbs/schedules/judge.hpp"

namespace iwarp::verbs::simtest::schedules {
namespace {

constexpr auto kForever = std::chrono::hours(1);
// A deaf end reads a piece before each time-out, which that renews.
constexpr auto kLongestEnd = std::chrono::hours(24);
constexpr auto kHiccup = std::chrono::seconds(1);
constexpr auto kLongestLinger = std::chrono::seconds(60);

std::size_t index_of(Side side) { return static_cast<std::size_t>(side); }

}  // namespace

Run::Run(std::uint64_t seed, std::ostream* trace)
    : trace_(trace),
      random_(Random(seed).word()),
      setting_(draw_setting(random_)),
      pair_(std::make_unique<SimPair>(setting_.pair, cut())),
      program_(std::make_unique<Program>(draw_program(random_, setting_, *pair_))),
      record_{setting_, *program_, *pair_, {}, {}},
      steps_(setting_.steps) {}

std::vector<std::string> Run::go() {
  if (trace_ != nullptr) *trace_ << setting_;
  for (const Side side : kSides) end(side).host->sends_when_asked = setting_.copies;
  plan_network_fault();
  do_work();
  part_in_peace();
  wait_for_end();
  if (record_.violations.empty()) {
    settle();
    Judge(record_).judge();
  }
  if (record_.violations.empty()) return {};
  // Memory that is still in use could not be deregistered: better lost than waited for.
  static_cast<void>(pair_.release());
  static_cast<void>(program_.release());
  return record_.violations;
}

// ---- What happens ----

void Run::do_work() {
  const bool finished = pair_->run_until(
      [this] {
        step();
        return done(Side::kClient) && done(Side::kServer);
      },
      setting_.clean() ? 100s : 2s);
  if (!finished && setting_.clean()) violated("does not get done though nothing went wrong");
}

void Run::part_in_peace() {
  const std::uint32_t who = setting_.clean() ? random_.below(3) : 2;
  for (const Side side : kSides) {
    if (!end(side).qp || (who != 2 && who != index_of(side))) continue;
    tell(name_of(side), " disconnects");
    disconnect(side);
  }
}

void Run::wait_for_end() {
  const bool over = pair_->run_until(
      [this] {
        step();
        return ended(Side::kClient) && ended(Side::kServer);
      },
      kLongestEnd);
  if (!over) violated("does not end");
  naps_ = 0;
  for (const Side side : kSides) {
    end(side).host->inside_receive = end(side).host->inside_transmit = nullptr;
  }
}

// What is left behind comes to its end: devices release memory, streams are seen off.
void Run::settle() {
  for (const Side side : kSides) end(side).collects = true;
  pair_->run_until(
      [this] {
        for (const Side side : kSides) look(side);
        return false;
      },
      1s);
  const auto seen_off = [this] {
    return end(Side::kClient).host->seeing_off() + end(Side::kServer).host->seeing_off() == 0;
  };
  pair_->run_until(seen_off, 2 * kLongestLinger);
}

void Run::step() {
  const auto now = pair_->network.net.now();
  if (steps_-- == 0) act();
  if (naps_ != 0 && !end(deaf_).host->deaf) {
    --naps_;
    fall_deaf(deaf_, setting_.nap);
  }
  for (const Side side : kSides) {
    if (side == deaf_ && end(side).host->deaf && now >= deaf_until_) wake_up();
    look(side);
    if (!end(side).qp) continue;
    if (!random_.one_in(3)) post_receives(side);
    if (random_.one_in(setting_.pace)) post_requests(side);
    if (setting_.intrudes && random_.one_in(4)) intrude(side);
  }
}

bool Run::done(Side side) const {
  const SimEnd& own = end(side);
  const Part& part = program_->of(side);
  if (!own.qp || record_.of(side).operations != part.operations.size()) return false;
  if (own.count(ConnectionEvent::Kind::kEstablished) == 0) return false;
  if (own.received.size() != part.receives.size()) return false;
  const bool all =
      (side == Side::kClient ? setting_.pair.client : setting_.pair.server).signaling ==
      Signaling::kAll;
  const auto due = std::count_if(part.operations.begin(), part.operations.end(),
                                 [all](const Operation& operation) {
                                   return all || has(operation.request.flags, SendFlags::kSignaled);
                                 });
  return own.sent.size() >= static_cast<std::size_t>(due);
}

bool Run::ended(Side side) const {
  const SimEnd& own = end(side);
  return !own.qp || (own.closed() && own.count(ConnectionEvent::Kind::kDisconnected) != 0);
}

// ---- What goes wrong ----

Wrap Run::cut() {
  if (setting_.trouble != Trouble::kFinInsideFpdu) return {};
  return [this](std::unique_ptr<tcp_offload::Stream> stream) {
    return std::make_unique<CutStream>(std::move(stream), setting_.offset);
  };
}

void Run::plan_network_fault() {
  const std::uint64_t at = setting_.offset;
  auto way = setting_.at == Side::kClient ? pair_->to_server() : pair_->to_client();
  if (setting_.trouble == Trouble::kCorruption) {
    for (std::uint32_t i = random_.between(1, 3); i > 0; --i) way.corrupt_within(at, at + 50);
  }
  if (setting_.trouble == Trouble::kReset) way.reset_at(at);
  if (setting_.trouble == Trouble::kStall) way.stall_at(at, random_.one_in(2) ? kForever : 12s);
  if (setting_.trouble == Trouble::kHiccup && random_.one_in(2)) way.stall_at(at, kHiccup);
}

// What another thread could do just when a half of the queue pair is at work.
void Run::intrude(Side side) {
  auto& inside =
      random_.one_in(2) ? end(side).host->inside_transmit : end(side).host->inside_receive;
  inside = [this, side] {
    if (!posting_ && end(side).qp) post_requests(side);
  };
}

void Run::act() {
  SimEnd& own = end(setting_.at);
  switch (setting_.trouble) {
    case Trouble::kHiccup: return hiccup();
    case Trouble::kEnding: return take_leave();
    case Trouble::kDeregistration: return deregister();
    case Trouble::kAbort:
    case Trouble::kDisconnect: return act_for_program(own);
    case Trouble::kDeafness:
      own.host->deaf = true;
      own.collects = false;
      break;
    case Trouble::kDestruction:
      own.qp.reset();
      progress(setting_.at).destroyed = true;
      break;
    default: return;
  }
  tell(name_of(setting_.at), ": ", name_of(setting_.trouble));
}

void Run::act_for_program(SimEnd& own) {
  const auto say = [this, &own] {
    tell(name_of(setting_.at), ": ", name_of(setting_.trouble));
    setting_.trouble == Trouble::kAbort ? own.qp->abort() : disconnect(setting_.at);
  };
  if (!setting_.intrudes) return say();
  (random_.one_in(2) ? own.host->inside_transmit : own.host->inside_receive) = say;
}

void Run::disconnect(Side side) {
  progress(side).parted = true;
  end(side).qp->disconnect();
}

void Run::hiccup() {
  fall_deaf(setting_.at, kHiccup);
  tell(name_of(setting_.at), " listens to nothing for a second");
}

void Run::fall_deaf(Side side, std::chrono::nanoseconds time) {
  end(side).host->deaf = true;
  end(side).collects = false;
  deaf_ = side;
  deaf_until_ = pair_->network.net.now() + time;
}

void Run::wake_up() {
  end(deaf_).host->deaf = false;
  end(deaf_).collects = true;
}

void Run::take_leave() {
  const Side side = setting_.at;
  tell(name_of(side), " leaves, way ", static_cast<int>(setting_.leaving));
  naps_ = setting_.naps;
  deaf_ = other(side);
  switch (setting_.leaving) {
    case Leaving::kDisconnect: return disconnect(side);
    case Leaving::kClose:
      progress(side).parted = progress(side).dropped = true;
      return end(side).qp->close();
    case Leaving::kDestruction: end(side).qp.reset(); progress(side).destroyed = true;
  }
}

void Run::deregister() {
  const auto& regions = program_->regions[index_of(setting_.at)];
  if (regions.empty()) return;
  Region* lost = regions[random_.below(static_cast<std::uint32_t>(regions.size()))];
  progress(setting_.at).lost = lost;
  tell(name_of(setting_.at), " deregisters the region with STag ", lost->key().value());
  lost->mr.reset();
}

// ---- Posting ----

void Run::refused(Side side, const PostError& error) {
  std::string sentence = name_of(side);
  sentence += ": a request was refused: " + std::make_error_code(error.code).message();
  violated(sentence);
}

std::size_t Run::wanted_receives(Side side) const {
  const std::size_t all = program_->of(side).receives.size();
  const bool starves = setting_.trouble == Trouble::kStarvation && setting_.at == side;
  return starves ? all / 2 : all;
}

void Run::post_receives(Side side) {
  const auto& receives = program_->of(side).receives;
  std::size_t& posted = progress(side).receives;
  while (posted < wanted_receives(side)) {
    const RecvWr request{posted, receives[posted].sges};
    SimEnd& own = end(side);
    const auto done =
        own.srq ? own.srq->post_receive({&request, 1}) : own.qp->post_receive({&request, 1});
    if (!done && done.error().code != std::errc::not_enough_memory) {
      refused(side, done.error());
    }
    if (!done) return;
    tell(name_of(side), " posts receive ", posted);
    ++posted;
  }
}

// A message waits for its receive, unless there is going to be none.
bool Run::may_post(Side side, const Operation& operation) const {
  const SimEnd& own = end(side);
  if (operation.hears) {
    const std::size_t number = *operation.hears;
    if (own.received.size() <= number) return false;
    if (own.received[number].status != Status::kSuccess) return false;
  }
  const Side peer = other(side);
  if (!operation.receive || *operation.receive >= wanted_receives(peer)) return true;
  return record_.of(peer).receives > *operation.receive || record_.of(peer).destroyed;
}

void Run::post_requests(Side side) {
  const auto& operations = program_->of(side).operations;
  const std::size_t posted = progress(side).operations;
  const std::size_t most = std::min<std::size_t>(random_.between(1, 4), operations.size() - posted);
  std::size_t count = 0;
  while (count < most && may_post(side, operations[posted + count])) ++count;
  if (count == 0) return;
  progress(side).operations += post_batch(side, count);
}

// Behind close(), and when all is over, requests are taken, and flushed.
bool Run::is_leaving(Side side) {
  const Progress& so_far = record_.of(side);
  return so_far.parted && !so_far.dropped && !end(side).closed();
}

std::size_t Run::post_batch(Side side, std::size_t count) {
  Part& part = program_->of(side);
  const std::size_t first = progress(side).operations;
  std::vector<SendWr> batch;
  for (std::size_t i = 0; i < count; ++i) {
    Operation& operation = part.operations[first + i];
    operation.request.sges = operation.sges;
    operation.request.bind = &operation.bind;
    operation.request.registration = &operation.registration;
    batch.push_back(operation.request);
  }
  const bool leaves = is_leaving(side);  // and not by what intrudes on the post
  posting_ = true;
  const auto done = end(side).qp->post_send(batch);
  posting_ = false;
  if (leaves) {  // RFC 5041 §6.2.1
    const bool right = !done && done.error().code == std::errc::not_connected;
    if (!right) violated("a request was taken behind the end that was asked for");
    return 0;
  }
  if (!done && done.error().code != std::errc::not_enough_memory) {
    refused(side, done.error());
  }
  const std::size_t taken = done ? count : done.error().index;
  for (std::size_t i = 0; i < taken; ++i) {
    auto& data = part.operations[first + i].inline_data;
    std::fill(data.begin(), data.end(), std::byte{0xEE});
    tell(name_of(side), " posts ", part.operations[first + i]);
  }
  return taken;
}

// ---- Watching ----

void Run::look(Side side) {
  if (trace_ == nullptr) return;
  const SimEnd& own = end(side);
  for (auto& i = seen_sent_[index_of(side)]; i < own.sent.size(); ++i) {
    tell(name_of(side), ": request ", own.sent[i].wr_id, " ends: ", to_string(own.sent[i].status));
  }
  for (auto& i = seen_received_[index_of(side)]; i < own.received.size(); ++i) {
    tell(name_of(side), ": receive ", own.received[i].wr_id,
         " ends: ", to_string(own.received[i].status), ", ", own.received[i].byte_length,
         " octets");
  }
  for (auto& i = seen_events_[index_of(side)]; i < own.events.size(); ++i) {
    tell(name_of(side), ": event ", static_cast<int>(own.events[i].kind), ' ',
         own.events[i].error.message);
  }
}

}  // namespace iwarp::verbs::simtest::schedules
