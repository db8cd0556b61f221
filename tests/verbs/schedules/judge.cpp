#include "verbs/schedules/judge.hpp"

#include <algorithm>
#include <sstream>

namespace iwarp::verbs::simtest::schedules {
namespace {

CompletionOpcode completion_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kWrite:
    case Opcode::kWriteImmediate: return CompletionOpcode::kWrite;
    case Opcode::kRead: return CompletionOpcode::kRead;
    case Opcode::kImmediate: return CompletionOpcode::kImmediate;
    case Opcode::kFetchAdd: return CompletionOpcode::kFetchAdd;
    case Opcode::kCmpSwap: return CompletionOpcode::kCmpSwap;
    case Opcode::kBindWindow: return CompletionOpcode::kBindWindow;
    case Opcode::kInvalidate: return CompletionOpcode::kInvalidate;
    case Opcode::kRegister: return CompletionOpcode::kRegister;
    default: return CompletionOpcode::kSend;
  }
}

bool is_immediate(Opcode opcode) {
  return opcode == Opcode::kImmediate || opcode == Opcode::kWriteImmediate;
}

}  // namespace

void Judge::judge() {
  for (const Side side : kSides) {
    check_ends(side);
    check_requests(side);
    check_receives(side);
    check_terminate(side);
    check_leftovers(side);
  }
  check_peace();
  check_memory();
}

void Judge::violated(Side side, const std::string& sentence) {
  record_.violations.push_back(std::string(name_of(side)) + ": " + sentence);
}

void Judge::violated(Side side, const Operation& operation, const std::string& sentence) {
  std::ostringstream out;
  out << operation << ": " << sentence;
  violated(side, out.str());
}

bool Judge::received(Side side, const Operation& operation) const {
  const auto& completions = record_.end(other(side)).received;
  return operation.receive && *operation.receive < completions.size() &&
         completions[*operation.receive].status == Status::kSuccess;
}

std::size_t Judge::succeeded(Side side) const {
  std::size_t count = 0;
  for (const Completion& completion : record_.end(side).sent) {
    if (completion.status == Status::kSuccess) count = completion.wr_id + 1;
  }
  return count;
}

// Whether a request, or the receive for it, may end with a status that names a cause. A bind that
// failed leaves the requests that would have used it without.
bool Judge::may_fail(Side poster, const Operation& operation, Status status) const {
  if (status == Status::kSuccess || status == Status::kFlushed) return true;
  if (operation.spoiled || record_.setting.deceptive()) return true;
  if (!was_posted(poster, operation)) return false;
  return std::any_of(kSides, kSides + 2, [&](Side side) {
    const Region* lost = record_.of(side).lost;
    return lost != nullptr &&
           std::find(operation.uses.begin(), operation.uses.end(), lost) != operation.uses.end();
  });
}

// Each request that was posted completes once, in order; only a success may go unreported, and
// nothing succeeds behind a failure.
void Judge::check_requests(Side side) {
  const auto& operations = part(side).operations;
  const auto& end = record_.end(side);
  const bool all =
      (side == Side::kClient ? record_.setting.pair.client : record_.setting.pair.server)
          .signaling == Signaling::kAll;
  bool failed = false;
  std::size_t next = 0;
  const auto skip_to = [&](std::size_t until) {
    for (; next < until; ++next) {
      const bool due = all || failed || has(operations[next].request.flags, SendFlags::kSignaled);
      if (due) violated(side, operations[next], "was posted and never completed");
    }
  };
  for (const Completion& completion : end.sent) {
    if (completion.wr_id >= record_.of(side).operations) {
      return violated(side, "a request completed that was never posted");
    }
    if (completion.wr_id < next) {
      return violated(side, operations[completion.wr_id], "completed twice, or out of order");
    }
    skip_to(completion.wr_id);
    ++next;
    if (completion.status != Status::kSuccess)
      failed = true;
    else if (failed)
      violated(side, operations[completion.wr_id], "succeeded behind a failure");
    check_request(side, completion);
  }
  if (!record_.of(side).destroyed) skip_to(record_.of(side).operations);
}

void Judge::check_request(Side side, const Completion& completion) {
  const Operation& operation = part(side).operations[completion.wr_id];
  const std::string status = to_string(completion.status);
  if (record_.setting.clean() && completion.status != Status::kSuccess) {
    violated(side, operation, "ended with " + status + " though nothing went wrong");
  }
  if (!may_fail(side, operation, completion.status)) {
    violated(side, operation, "ended with " + status + " and is not to blame");
  }
  if (completion.qp_number != number_of(side)) {
    violated(side, operation, "completed under another queue pair's number");
  }
  if (completion.status != Status::kSuccess) return;
  const bool answered = operation.here.region != nullptr;
  const bool local = operation.request.opcode >= Opcode::kBindWindow;
  if (operation.spoiled && (answered || local) && !record_.setting.deceptive()) {
    violated(side, operation, "succeeded though it names what it may not");
  }
  if (completion.opcode != completion_of(operation.request.opcode)) {
    violated(side, operation, "completed as another kind of request");
  }
  if (answered && completion.byte_length != operation.content.size()) {
    violated(side, operation, "completed with another length");
  }
}

// Receives complete in the order they were posted; each one, unless others may still take it.
void Judge::check_receives(Side side) {
  const auto& completions = record_.end(side).received;
  const std::size_t posted = record_.of(side).receives;
  const bool shared = record_.end(side).srq != nullptr;
  const bool all = !shared && !record_.of(side).destroyed;
  if (completions.size() > posted || (all && completions.size() != posted)) {
    return violated(side, std::to_string(completions.size()) + " of " + std::to_string(posted) +
                              " receives completed");
  }
  bool failed = false;
  for (std::size_t i = 0; i < completions.size(); ++i) {
    if (completions[i].wr_id != i) return violated(side, "receives completed out of order");
    if (completions[i].status == Status::kSuccess) {
      if (failed) violated(side, "a receive succeeded behind one that had failed");
      check_receive(side, i, completions[i]);
      continue;
    }
    failed = true;
    const Operation& operation = part(other(side)).operations[part(side).receives[i].operation];
    if (!may_fail(other(side), operation, completions[i].status)) {
      violated(side, "receive " + std::to_string(i) + " ended with " +
                         to_string(completions[i].status) + " and is not to blame");
    }
  }
  if (record_.setting.clean() && (failed || completions.size() != posted)) {
    violated(side, "a receive was flushed though its message was sent");
  }
}

void Judge::check_receive(Side side, std::size_t number, const Completion& completion) {
  if (record_.setting.deceptive()) return;
  const Operation& operation = part(other(side)).operations[part(side).receives[number].operation];
  const SendWr& request = operation.request;
  const auto expect = [&](bool holds, const char* sentence) {
    if (!holds) violated(side, operation, std::string("its receive ") + sentence);
  };
  expect(was_posted(other(side), operation), "completed though it was never posted");
  expect(completion.opcode == CompletionOpcode::kReceive, "completed as something else");
  const bool immediate = is_immediate(request.opcode);
  const bool knows_length = request.opcode != Opcode::kImmediate && !operation.content.empty();
  expect(!knows_length || completion.byte_length == operation.content.size(), "has another length");
  expect(has(completion.flags, CompletionFlags::kSolicited) ==
             has(request.flags, SendFlags::kSolicited),
         "is wrong about being solicited");
  expect(has(completion.flags, CompletionFlags::kImmediate) == immediate,
         "is wrong about bringing Immediate Data");
  expect(!immediate || completion.immediate == request.immediate, "brought another value");
  const bool invalidates = request.opcode == Opcode::kSendInvalidate;
  expect(has(completion.flags, CompletionFlags::kInvalidated) == invalidates,
         "is wrong about invalidating");
  if (!invalidates) return;
  expect(completion.invalidated == request.invalidate_stag, "names another STag");
  SimEnd& end = record_.end(side);
  const auto pin = end.host->registry->table().pin(completion.invalidated, end.accessor,
                                                   ddp::Rights::kNone, TaggedOffset{0}, 0);
  expect(!pin && pin.error() == ddp::Error::kInvalidStag, "left the STag in force");
}

}  // namespace iwarp::verbs::simtest::schedules
