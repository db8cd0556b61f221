#include "verbs/traffic.hpp"

#include <algorithm>

namespace iwarp::verbs::simtest {
namespace {

// Between what two messages may touch there is always something that none may.
constexpr std::size_t kGap = 5;

std::size_t room(const TrafficOptions& options) {
  return std::size_t{options.requests} * (options.longest + 2 * kGap) + kGap;
}

std::vector<std::byte> part(const Region& region, std::size_t at, std::size_t length) {
  const ConstBytes bytes = region.memory.bytes().subspan(at, length);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

Traffic::Traffic(SimEnd& from, SimEnd& to, iwarp::test::Random& random,
                 const TrafficOptions& options)
    : from_(from),
      to_(to),
      random_(random),
      options_(options),
      source_(from.region(2 * std::size_t{options.longest} + 64, Access::kNone)),
      sink_(from.region(room(options), Access::kLocalWrite)),
      readable_(to.region(2 * std::size_t{options.longest} + 64, Access::kRemoteRead)),
      target_(to.region(room(options), Access::kLocalWrite | Access::kRemoteWrite)),
      inbox_(to.region(room(options), Access::kLocalWrite)) {
  random.fill(source_.memory.bytes());
  random.fill(readable_.memory.bytes());
  plan_.resize(options.requests);
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    Planned& planned = plan_[i];
    planned.request.wr_id = i;
    planned.request.flags = SendFlags::kNone;
    // The last one tells of all before it.
    const bool last = i + 1 == plan_.size();
    if (last || options.signal_all || !random.one_in(3)) {
      planned.request.flags = SendFlags::kSignaled;
    }
    if (random.one_in(6)) planned.request.flags = planned.request.flags | SendFlags::kFence;
    const std::uint32_t length = random.one_in(8)   ? 0
                                 : random.one_in(4) ? random.between(1, 64)
                                                    : random.between(1, options.longest);
    switch (random.below(5)) {
      case 0: plan_read(planned, std::min(length, options.longest)); break;
      case 1:
      case 2: plan_write(planned, std::min(length, options.longest)); break;
      default: plan_send(planned, std::min(length, options.longest));
    }
  }
  post_receives();
}

// Cuts a range into pieces, some of them empty.
std::vector<Sge> Traffic::split(Region& region, std::size_t at, std::size_t length,
                                std::uint32_t most) {
  const std::uint32_t count = random_.between(length == 0 ? 0 : 1, most);
  std::vector<Sge> sges;
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    const std::size_t size = last ? length : random_.between(0, static_cast<std::uint32_t>(length));
    sges.push_back(region.sge(at, size));
    at += size;
    length -= size;
  }
  return sges;
}

// Lets the payload come from pieces all over the source, or from the request itself.
void Traffic::gather(Planned& planned, std::uint32_t length) {
  const QpCapacity capacity = from_.qp->capacity();
  if (length <= capacity.max_inline && random_.one_in(2)) {
    planned.request.flags = planned.request.flags | SendFlags::kInline;
    planned.inline_data.resize(length);
    random_.fill(planned.inline_data);
    planned.content = planned.inline_data;
    // The key of inline data is not looked at.
    planned.sges = {{planned.inline_data.data(), length, Stag{random_.word32()}}};
    return;
  }
  std::uint32_t left = length;
  const std::uint32_t count = random_.between(1, capacity.max_send_sge);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t size = i + 1 == count ? left : random_.between(0, left);
    const auto most = static_cast<std::uint32_t>(source_.memory.size() - size);
    const std::size_t at = random_.between(0, most);
    planned.sges.push_back(source_.sge(at, size));
    const auto bytes = part(source_, at, size);
    planned.content.insert(planned.content.end(), bytes.begin(), bytes.end());
    left -= size;
  }
}

void Traffic::plan_send(Planned& planned, std::uint32_t length) {
  planned.kind = Kind::kSend;
  gather(planned, length);
  if (random_.one_in(4)) planned.request.flags = planned.request.flags | SendFlags::kSolicited;
  if (random_.one_in(6)) {
    Region& ended = to_.region(16, Access::kRemoteInvalidate);
    planned.request.opcode = Opcode::kSendInvalidate;
    planned.request.invalidate_stag = ended.key();
  }
  const std::size_t spare = random_.one_in(2) ? 0 : kGap;
  planned.at = receives_.size();
  receives_.push_back({split(inbox_, inbox_used_, length + spare, to_.qp->capacity().max_recv_sge),
                       inbox_used_, planned.request.wr_id});
  inbox_used_ += length + spare + kGap;
}

void Traffic::plan_write(Planned& planned, std::uint32_t length) {
  planned.kind = Kind::kWrite;
  gather(planned, length);
  planned.at = target_used_;
  target_used_ += length + kGap;
  planned.request.opcode = Opcode::kWrite;
  planned.request.remote_stag = target_.key();
  planned.request.remote_offset = target_.to(planned.at);
}

void Traffic::plan_read(Planned& planned, std::uint32_t length) {
  planned.kind = Kind::kRead;
  const auto most = static_cast<std::uint32_t>(readable_.memory.size() - length);
  const std::size_t at = random_.between(0, most);
  planned.content = part(readable_, at, length);
  planned.at = sink_used_;
  planned.sges = split(sink_, sink_used_, length, from_.qp->capacity().max_send_sge);
  sink_used_ += length + kGap;
  planned.request.opcode = Opcode::kRead;
  planned.request.remote_stag = readable_.key();
  planned.request.remote_offset = readable_.to(at);
}

void Traffic::post_receives() {
  for (std::size_t i = 0; i < receives_.size(); ++i) {
    post(to_, RecvWr{i, receives_[i].sges});
  }
}

void Traffic::post_some() {
  if (all_posted() || !from_.qp) return;
  const std::size_t count = std::min<std::size_t>(random_.between(1, 4), plan_.size() - posted_);
  std::vector<SendWr> batch;
  for (std::size_t i = 0; i < count; ++i) {
    Planned& planned = plan_[posted_ + i];
    planned.request.sges = planned.sges;
    batch.push_back(planned.request);
  }
  const auto done = from_.qp->post_send(batch);
  const std::size_t taken = done ? count : done.error().index;
  // An end that has asked for a graceful end posts no more.
  const bool ended = !done && done.error().code == std::errc::not_connected;
  if (!done && !ended) {
    EXPECT_EQ(done.error().code, std::errc::not_enough_memory);
  }
  for (std::size_t i = 0; i < taken; ++i) {
    auto& data = plan_[posted_ + i].inline_data;
    std::fill(data.begin(), data.end(), std::byte{0xEE});
  }
  posted_ += taken;
  if (ended) plan_.resize(posted_);
}

bool Traffic::signaled(const Planned& planned) const {
  return has(planned.request.flags, SendFlags::kSignaled);
}

bool Traffic::all_done() const {
  const auto due = std::count_if(plan_.begin(), plan_.end(),
                                 [this](const Planned& planned) { return signaled(planned); });
  return from_.sent.size() >= static_cast<std::size_t>(due) &&
         to_.received.size() >= receives_.size();
}

// ---- What must have come of it ----

void Traffic::check_receive(std::size_t number, const Completion& completion) const {
  const Planned& sent = plan_[receives_[number].request];
  EXPECT_EQ(completion.wr_id, number);
  EXPECT_EQ(completion.opcode, CompletionOpcode::kReceive);
  EXPECT_EQ(completion.byte_length, sent.content.size());
  EXPECT_EQ(completion.qp_number, to_.qp->number());
  EXPECT_EQ(has(completion.flags, CompletionFlags::kSolicited),
            has(sent.request.flags, SendFlags::kSolicited));
  const bool invalidates = sent.request.opcode == Opcode::kSendInvalidate;
  EXPECT_EQ(has(completion.flags, CompletionFlags::kInvalidated), invalidates);
  if (!invalidates) return;
  EXPECT_EQ(completion.invalidated, sent.request.invalidate_stag);
  EXPECT_FALSE(to_.host->registry->table().pin(completion.invalidated, to_.pd->id(),
                                               ddp::Rights::kNone, TaggedOffset{0}, 0));
}

// Whether a completion says that the request has been done at the peer.
bool Traffic::reported(std::size_t index) const {
  const Planned& planned = plan_[index];
  const auto& where = planned.kind == Kind::kSend ? to_.received : from_.sent;
  const std::uint64_t id = planned.kind == Kind::kSend ? planned.at : planned.request.wr_id;
  // A Write is done once something behind it has been: that is left to check_success().
  return planned.kind != Kind::kWrite &&
         std::any_of(where.begin(), where.end(), [id](const Completion& completion) {
           return completion.wr_id == id && completion.status == Status::kSuccess;
         });
}

// Compares a region, octet by octet: what messages left there, and zeros everywhere else. What is
// not known to have been done may have been done in part.
void Traffic::check_image(const Region& region, Kind kind, bool only_reported) const {
  std::vector<std::byte> expected(region.memory.size());
  std::vector<bool> unknown(region.memory.size());
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    const Planned& planned = plan_[i];
    if (planned.kind != kind) continue;
    const std::size_t at = kind == Kind::kSend ? receives_[planned.at].at : planned.at;
    if (only_reported && !reported(i)) {
      std::fill_n(unknown.begin() + static_cast<std::ptrdiff_t>(at), planned.content.size(), true);
    }
    std::copy(planned.content.begin(), planned.content.end(),
              expected.begin() + static_cast<std::ptrdiff_t>(at));
  }
  const ConstBytes actual = region.memory.bytes();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (unknown[i] || actual[i] == expected[i]) continue;
    ADD_FAILURE() << "octet " << i << " of " << expected.size() << " is wrong, kind "
                  << static_cast<int>(kind);
    return;
  }
}

void Traffic::check_success() const {
  std::vector<std::uint64_t> due;
  for (const Planned& planned : plan_) {
    if (signaled(planned)) due.push_back(planned.request.wr_id);
  }
  EXPECT_EQ(ids(from_.sent), due);
  for (const Completion& completion : from_.sent) {
    EXPECT_EQ(completion.status, Status::kSuccess) << "request " << completion.wr_id;
  }
  ASSERT_EQ(to_.received.size(), receives_.size());
  for (std::size_t i = 0; i < receives_.size(); ++i) {
    EXPECT_EQ(to_.received[i].status, Status::kSuccess) << "receive " << i;
    check_receive(i, to_.received[i]);
  }
  check_image(sink_, Kind::kRead, false);
  check_image(target_, Kind::kWrite, false);
  check_image(inbox_, Kind::kSend, false);
  EXPECT_TRUE(from_.intact() && to_.intact());
}

void Traffic::check_requests(mpa::Crc crc) const {
  bool failed = false;
  std::size_t next = 0;
  const auto skip_to = [&](std::size_t end) {
    for (; next < end; ++next) {
      EXPECT_FALSE(failed || signaled(plan_[next])) << "request " << next << " never completed";
    }
  };
  for (const Completion& completion : from_.sent) {
    ASSERT_LT(completion.wr_id, posted_);
    ASSERT_GE(completion.wr_id, next) << "out of order, or twice";
    skip_to(completion.wr_id);
    ++next;
    EXPECT_FALSE(failed && completion.status == Status::kSuccess) << "success behind a failure";
    failed = failed || completion.status != Status::kSuccess;
  }
  skip_to(posted_);
  EXPECT_TRUE(from_.intact());
  // A header that changed on the way may name anything.
  if (crc == mpa::Crc::kOn) check_image(sink_, Kind::kRead, true);
}

void Traffic::check_receives(mpa::Crc crc) const {
  bool failed = false;
  ASSERT_EQ(to_.received.size(), receives_.size());
  for (std::size_t i = 0; i < receives_.size(); ++i) {
    const Completion& completion = to_.received[i];
    EXPECT_EQ(completion.wr_id, i);
    EXPECT_FALSE(failed && completion.status == Status::kSuccess) << "success behind a failure";
    failed = failed || completion.status != Status::kSuccess;
    if (!failed && crc == mpa::Crc::kOn) check_receive(i, completion);
  }
  EXPECT_TRUE(to_.intact());
  if (crc == mpa::Crc::kOff) return;
  check_image(target_, Kind::kWrite, true);
  check_image(inbox_, Kind::kSend, true);
}

}  // namespace iwarp::verbs::simtest
