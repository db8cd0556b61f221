#include "soft/qp/work/send_work.hpp"

#include <cstring>
#include <utility>

#include "soft/qp/work/copy_sges.hpp"
#include "soft/qp/work/operations.hpp"
#include "soft/qp/work/send_form.hpp"

namespace iwarp::verbs::soft {
namespace {

rdmap::Operation operation_of(const OperationRow& row, const SendWr& request) {
  return has(request.flags, SendFlags::kSolicited) ? row.solicited : row.operation;
}

void copy_inline(std::span<const Sge> from, MutableBytes to) {
  for (const Sge& sge : from) {
    if (sge.length != 0) std::memcpy(to.data(), sge.address, sge.length);
    to = to.subspan(sge.length);
  }
}

}  // namespace

SendWork::SendWork(const SoftQpInit& init)
    : capacity_(init.capacity),
      reports_all_(init.signaling == Signaling::kAll),
      qp_number_(init.number),
      queue_(capacity_.max_send_wr, capacity_.max_send_sge, capacity_.max_inline),
      places_(capacity_.max_send_wr) {}

// A request, and what is asked of it more than once.
struct SendWork::Described {
  explicit Described(const SendWr& posted)
      : request(posted), row(row_of(posted.opcode)), length(octets_of(posted.sges)) {}

  const SendWr& request;
  const OperationRow* const row;  // null if there is no such verb
  const std::uint64_t length;
};

std::optional<PostError> SendWork::check(const Described& described, Admission admission) const {
  const auto& [request, row, length] = described;
  if (row == nullptr) return unknown_opcode();
  if (auto malformed = check_form(*row, request, length, capacity_)) return malformed;
  if (admission == Admission::kRefused) return PostError{.code = std::errc::not_connected};
  if (auto refused = check_agreed(operation_of(*row, request))) return refused;
  if (places_.room() == 0) return PostError{.code = std::errc::not_enough_memory};
  return std::nullopt;
}

// What keeps requests from being posted together.
std::optional<PostError> SendWork::check_all(std::span<const SendWr> requests,
                                             Admission admission) const {
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (auto problem = check(Described(requests[i]), admission)) {
      problem->index = i;
      return problem;
    }
  }
  if (const std::size_t room = places_.room(); room < requests.size()) {
    return PostError{std::errc::not_enough_memory, room};
  }
  return std::nullopt;
}

// What the connection does not allow, once there is one. With an ORD of 0 a Read would wait for
// ever.
std::optional<PostError> SendWork::check_agreed(rdmap::Operation operation) const {
  if (!agreed_) return std::nullopt;
  if (rdmap::awaits_response(operation) && agreed_->ord == 0) {
    return PostError{.code = std::errc::invalid_argument,
                     .field = PostField::kOpcode,
                     .reason = "the connection has an ORD of 0, and lets no Read or atomic leave"};
  }
  const bool rfc7306 = rdmap::is_atomic(operation) || rdmap::carries_immediate(operation);
  if (!rfc7306 || agreed_->rfc7306) return std::nullopt;
  return PostError{.code = std::errc::not_supported,
                   .field = PostField::kOpcode,
                   .reason = "RFC 7306 is not in force on this connection (option rfc7306)"};
}

std::optional<std::uint32_t> SendWork::agree(const Agreed& agreed) {
  const Guard lock(lock_);
  agreed_ = agreed;
  for (std::uint32_t at = queue_.head(); at != queue_.tail(); ++at) {
    if (check_agreed(queue_.at(at).operation)) return at;
  }
  return std::nullopt;
}

SendWork::Posted SendWork::post(std::span<const SendWr> requests, Posting posting,
                                Admission admission) {
  Posted posted;
  const Guard lock(lock_);
  if (posting == Posting::kAllOrNone) {
    posted.refused = check_all(requests, admission);
    if (posted.refused) return posted;
  }
  for (const SendWr& one : requests) {
    const Described request(one);
    if (posting == Posting::kUntilRefused) {
      posted.refused = check(request, admission);
      if (posted.refused) {
        posted.refused->index = posted.count;
        break;
      }
    }
    // Behind what has come late comes everything.
    const bool late = admission == Admission::kFlushed || !late_.empty();
    late ? append_late(request) : append(request);
    posted.octets += request.length;
    ++posted.count;
  }
  return posted;
}

void SendWork::append(const Described& described) {
  const auto& [request, row, length] = described;
  const bool in_line = has(request.flags, SendFlags::kInline);
  rdmap::Request& entry = queue_.vacant();
  entry.cookie = request.wr_id;
  entry.report = reports_all_ || has(request.flags, SendFlags::kSignaled);
  entry.operation = operation_of(*row, request);
  entry.payload_in = in_line ? rdmap::PayloadIn::kInline : rdmap::PayloadIn::kSges;
  entry.fence = has(request.flags, SendFlags::kFence) ? rdmap::Fence::kYes : rdmap::Fence::kNo;
  entry.sge_count = in_line ? std::uint16_t{0} : static_cast<std::uint16_t>(request.sges.size());
  entry.length = static_cast<std::uint32_t>(length);
  entry.remote_stag = request.remote_stag;
  entry.remote_to = TaggedOffset{request.remote_offset};
  entry.invalidate = request.invalidate_stag;
  entry.immediate = request.immediate;
  if (rdmap::is_atomic(entry.operation)) {
    entry.atomic = {request.atomic.data, request.atomic.mask, request.atomic.compare,
                    request.atomic.compare_mask};
  }
  if (entry.operation == rdmap::Operation::kLocal) append_local(request);
  if (in_line) {
    copy_inline(request.sges, queue_.vacant_inline());
  } else {
    copy_sges(request.sges, queue_.vacant_sges());
  }
  places_.take();
  queue_.append();
}

void SendWork::append_local(const SendWr& request) {
  if (!local_) local_.reset(new LocalWork[queue_.places()]);
  LocalWork& work = local_[queue_.place(queue_.tail())];
  work.opcode = request.opcode;
  work.invalidate = request.invalidate_stag;
  if (request.bind != nullptr) work.bind = *request.bind;
  if (request.registration != nullptr) work.registration = *request.registration;
}

// Nothing of it leaves, so there is nothing to keep but the completion.
void SendWork::append_late(const Described& described) {
  const auto& [request, row, length] = described;
  Completion& completion = late_.emplace_back();
  completion.wr_id = request.wr_id;
  completion.qp_number = qp_number_;
  completion.status = Status::kFlushed;
  completion.opcode = row->completion;
  completion.byte_length = static_cast<std::uint32_t>(length);
  places_.take();
}

bool SendWork::drained() const {
  if (any()) return false;
  const Guard lock(lock_);
  return late_.empty();
}

std::optional<Completion> SendWork::retire(Status status) {
  const std::uint32_t position = queue_.head();
  const rdmap::Request& request = queue_.at(position);
  Completion completion;
  completion.wr_id = request.cookie;
  completion.qp_number = qp_number_;
  completion.status = status;
  completion.opcode = completion_opcode(position);
  completion.byte_length = request.length;
  const bool report = request.report || status != Status::kSuccess;
  queue_.retire();
  if (report) return completion;
  places_.give_back(1);
  return std::nullopt;
}

std::vector<Completion> SendWork::take_late() {
  const Guard lock(lock_);
  return std::exchange(late_, {});
}

CompletionOpcode SendWork::completion_opcode(std::uint32_t position) const {
  const rdmap::Operation operation = queue_.at(position).operation;
  if (operation == rdmap::Operation::kLocal) return row_of(local(position).opcode)->completion;
  return completion_of(operation);
}

}  // namespace iwarp::verbs::soft
