#include "file_service/wire/link.hpp"

#include <array>

#include "context.hpp"

namespace iwarp::cli::file_service {
namespace {

using std::chrono::milliseconds;
using verbs::ConnectionEvent;

/// The reason of a loss may come a little later than the flushed requests. It is looked for in
/// steps, as the clock may jump in one of them.
constexpr milliseconds kReasonStep{20};
constexpr int kReasonSteps = 10;

/// What a work request is for; the upper half of its wr_id.
enum class Work : std::uint32_t { kReceive = 1, kSend, kRead, kWrite, kSign };

std::uint64_t work_id(Work work, std::uint32_t slot = 0) {
  return std::uint64_t{static_cast<std::uint32_t>(work)} << 32 | slot;
}
Work work_of(std::uint64_t id) { return static_cast<Work>(id >> 32); }
std::uint16_t slot_of(std::uint64_t id) { return static_cast<std::uint16_t>(id); }

verbs::QpCapacity capacity(const LinkSizes& sizes) {
  verbs::QpCapacity capacity;
  capacity.max_recv_wr = sizes.receives;
  capacity.max_send_wr = sizes.sends + sizes.data_requests + LifeSigns::kMost;
  return capacity;
}

std::size_t memory_size(const LinkSizes& sizes) {
  return std::size_t{sizes.receives} * sizes.receive_size +
         std::size_t{sizes.sends} * sizes.send_size;
}

}  // namespace

Link::Link(verbs::Device& device, const LinkSizes& sizes, milliseconds patience,
           std::uint32_t max_fpdu)
    : sizes_(sizes),
      life_(std::make_shared<ConnectionLife>()),
      memory_(memory_size(sizes)),
      domain_(require(device.alloc_pd(), "cannot allocate a protection domain")),
      cq_(require(device.create_cq(sizes.receives + capacity(sizes).max_send_wr),
                  "cannot create a completion queue")),
      region_(require(domain_.register_memory(memory_.bytes(), verbs::Access::kLocalWrite),
                      "cannot register message buffers")),
      tags_(sizes.sends),
      qp_(require(domain_.create_qp(cq_, qp_options(patience, max_fpdu)),
                  "cannot create a queue pair")) {
  for (std::uint16_t slot = 0; slot < sizes_.sends; ++slot) free_sends_.push_back(slot);
  for (std::uint16_t slot = 0; slot < sizes_.receives; ++slot) recycle(slot);
}

// A buffer is filled before it is posted, and left alone until that has completed.
verbs::QpOptions Link::qp_options(milliseconds patience, std::uint32_t max_fpdu) const {
  verbs::QpOptions options;
  options.liveness.unacknowledged = std::max(verbs::kDefaultUnacknowledged, patience);
  options.capacity = capacity(sizes_);
  options.on_event = [life = life_](const ConnectionEvent& event) { life->report(event); };
  options.source_buffers = verbs::SourceBuffers::kStable;
  options.max_fpdu = max_fpdu;
  return options;
}

verbs::ConnectionInfo Link::connect(const verbs::Endpoint& to, const verbs::ConnectOptions& options,
                                    const std::function<void()>& check_interrupt) {
  return life_->connect(qp_, to, options, check_interrupt);
}

verbs::ConnectionInfo Link::accept(verbs::ConnectionRequest& request,
                                   const verbs::ConnectOptions& options) {
  auto accepted = request.accept(qp_, options);
  if (!accepted) throw LinkLost(accepted.error().message);
  return *std::move(accepted);
}

std::optional<Link::Event> Link::wait(milliseconds timeout) {
  if (auto event = next_event(timeout)) return event;
  // With nothing posted, nothing is flushed. But something may have come before the end.
  const verbs::QpState state = qp_.state();
  if (state == verbs::QpState::kTerminate || state == verbs::QpState::kError) {
    if (auto event = next_event(milliseconds(0))) return event;
    throw LinkLost(why_lost(verbs::Status::kFlushed));
  }
  show_life_if_due();
  return std::nullopt;
}

std::optional<Link::Event> Link::next_event(milliseconds timeout) {
  while (const auto completion = cq_.wait(timeout)) {
    if (auto event = event_of(*completion)) return event;
    timeout = milliseconds(0);
  }
  return std::nullopt;
}

std::optional<Link::Event> Link::event_of(const verbs::Completion& completion) {
  if (completion.status != verbs::Status::kSuccess) throw LinkLost(why_lost(completion.status));
  const std::uint16_t slot = slot_of(completion.wr_id);
  switch (work_of(completion.wr_id)) {
    case Work::kReceive: return Event{Event::Kind::kMessage, slot, completion.byte_length, 0};
    case Work::kSend:
      free_sends_.push_back(slot);
      return Event{Event::Kind::kSent, slot, 0, tags_[slot]};
    case Work::kRead: return Event{Event::Kind::kRead, slot, completion.byte_length, 0};
    case Work::kSign: --signs_under_way_; break;
    case Work::kWrite: break;
  }
  return std::nullopt;
}

std::uint64_t Link::octets_moved() const {
  const verbs::QpCounters counters = qp_.counters();
  return counters.octets_sent + counters.octets_received;
}

void Link::show_life_if_due() {
  const verbs::QpCounters counters = qp_.counters();
  const LifeSigns::Traffic traffic{counters.octets_received, counters.octets_sent,
                                   signs_under_way_};
  if (life_signs_.due(LifeSigns::Clock::now(), traffic)) show_life();
}

void Link::show_life() {
  if (signs_under_way_ == LifeSigns::kMost) return;
  verbs::SendWr sign;
  sign.wr_id = work_id(Work::kSign);
  sign.opcode = verbs::Opcode::kWrite;
  check_posted(qp_.post_send(sign), "a sign of life");
  ++signs_under_way_;
}

std::string Link::why_lost(verbs::Status status) const {
  for (int step = 0; step < kReasonSteps && !life_->wait_for_end(kReasonStep); ++step) {
  }
  return why_over(qp_, fmt::format("the connection was lost ({})", verbs::to_string(status)));
}

// A request that finds the connection gone tells of that, and not of itself.
void Link::check_posted(const Result<void, verbs::PostError>& posted, const char* what) const {
  if (posted) return;
  if (posted.error().code == std::errc::not_connected) {
    throw LinkLost(why_lost(verbs::Status::kFlushed));
  }
  throw LinkLost(fmt::format("this end cannot post {}: {}", what,
                             std::make_error_code(posted.error().code).message()));
}

bool Link::over(milliseconds timeout) { return life_->wait_for_end(timeout).has_value(); }

ConstBytes Link::message(const Event& event) const {
  return memory_.bytes().subspan(std::size_t{event.slot} * sizes_.receive_size, event.length);
}

void Link::recycle(std::uint16_t slot) {
  const verbs::Sge sge = region_.sge(std::size_t{slot} * sizes_.receive_size, sizes_.receive_size);
  check_posted(qp_.post_receive(verbs::RecvWr{work_id(Work::kReceive, slot), {&sge, 1}}),
               "a receive");
}

std::size_t Link::outgoing_offset() const {
  return std::size_t{sizes_.receives} * sizes_.receive_size +
         std::size_t{free_sends_.back()} * sizes_.send_size;
}

MutableBytes Link::outgoing() {
  return memory_.bytes().subspan(outgoing_offset(), sizes_.send_size);
}

void Link::send(std::size_t length, const SendExtras& extras) {
  const verbs::Sge sge = region_.sge(outgoing_offset(), static_cast<std::uint32_t>(length));
  const std::uint16_t slot = free_sends_.back();
  free_sends_.pop_back();
  tags_[slot] = extras.tag;
  verbs::SendWr send;
  send.wr_id = work_id(Work::kSend, slot);
  send.sges = {&sge, 1};
  if (extras.invalidate) {
    send.opcode = verbs::Opcode::kSendInvalidate;
    send.invalidate_stag = *extras.invalidate;
  }
  if (!extras.write) return check_posted(qp_.post_send(send), "a send");
  verbs::SendWr write;
  write.wr_id = work_id(Work::kWrite);
  write.opcode = verbs::Opcode::kWrite;
  write.flags = verbs::SendFlags::kNone;
  write.sges = {&extras.write->from, 1};
  write.remote_stag = extras.write->to.stag;
  write.remote_offset = extras.write->to.offset;
  check_posted(qp_.post_send(std::array{write, send}), "an RDMA Write");
}

void Link::read(const verbs::Sge& into, const verbs::RemoteBuffer& from) {
  verbs::SendWr read;
  read.wr_id = work_id(Work::kRead);
  read.opcode = verbs::Opcode::kRead;
  read.sges = {&into, 1};
  read.remote_stag = from.stag;
  read.remote_offset = from.offset;
  check_posted(qp_.post_send(read), "an RDMA Read");
}

}  // namespace iwarp::cli::file_service
