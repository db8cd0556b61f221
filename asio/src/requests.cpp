#include <algorithm>
#include <boost/asio/error.hpp>
#include <cstring>
#include <utility>

#include "connection_core.hpp"
#include "throw_error.hpp"

/// The queues of a connection: what is posted, what waits for room, what has ended.
namespace iwarp::asio::detail {

using boost::asio::error::operation_aborted;

namespace {

constexpr std::size_t kAtomicSize = sizeof(std::uint64_t);

// Elements of a list as verbs want them.
class sges {
 public:
  explicit sges(const const_buffer_list& buffers) : size_(buffers.size()) {
    for (std::size_t i = 0; i < size_; ++i) {
      sges_[i] = {buffers[i].data(), static_cast<std::uint32_t>(buffers[i].size()),
                  buffers[i].lkey()};
    }
  }
  [[nodiscard]] std::span<const verbs::Sge> all() const { return std::span(sges_).first(size_); }

 private:
  std::array<verbs::Sge, const_buffer_list::kMax> sges_;
  std::size_t size_;
};

}  // namespace

// ---- Receives ----

void connection_core::receive(operation<message>& operation) {
  if (refuses()) return operation.complete(no_device());
  const session held(*this);
  if (!pool_) {
    note(name() + ": async_receive() on a connection that was made without a message pool");
    return complete(operation, errc::no_message_pool);
  }
  if (closed_) return complete(operation, operation_aborted);
  if (!messages_.empty()) {
    operation.result = std::move(messages_.front());
    messages_.pop_front();
    return complete(operation, {});
  }
  if (stage_ == stage::over) return complete(operation, end_error());
  domain_->device()->begin_operation();
  message_waits_.push_back(operation);
}

void connection_core::receive(posted_base& operation) {
  operation.in = posted_base::queue::receive;
  request(operation);
}

void connection_core::on_message(message arrived) {
  message dropped;  // destroyed without the lock
  const session held(*this);
  if (closed_) {
    dropped = std::move(arrived);
  } else if (operation_base* wait = message_waits_.pop_front()) {
    auto& told = static_cast<operation<message>&>(*wait);
    told.result = std::move(arrived);
    end(told, {});
  } else {
    messages_.push_back(std::move(arrived));
  }
}

void connection_core::end(operation<message>& operation, error_code error) {
  complete(operation, error);
  domain_->device()->end_operation();
}

// ---- Requests ----

void connection_core::atomic(posted_base& operation) {
  if (refuses()) return operation.complete(no_device());
  {
    const session held(*this);
    operation.is_atomic = true;
    try {
      if (!atomics_) atomics_.emplace(domain_->pd(), options_.max_sends, kAtomicSize);
    } catch (const boost::system::system_error& refused) {
      note(refused.what());
      return complete(operation, refused.code());
    }
  }
  request(operation);
}

void connection_core::request(posted_base& operation) {
  if (refuses()) return operation.complete(no_device());
  const session held(*this);
  if (closed_) return complete(operation, operation_aborted);
  if (const error_code error = check(operation)) return complete(operation, error);
  if (operation.request.unregistered.size() > max_inline_) {
    try {
      if (!copies_) copies_.emplace(domain_->pd(), options_.max_sends, options_.max_inline);
    } catch (const boost::system::system_error& refused) {
      note(refused.what());
      return complete(operation, refused.code());
    }
  }
  domain_->device()->begin_operation();
  const bool receive = operation.in == posted_base::queue::receive;
  operation_list& pending = receive ? pending_receives_ : pending_sends_;
  const bool room =
      receive ? receives_posted_ < options_.max_receives : sends_posted_ < options_.max_sends;
  if (room && pending.empty()) return submit(operation);
  const auto& loose = operation.request.unregistered;
  const auto* octets = static_cast<const std::byte*>(loose.data());
  operation.copied.assign(octets, octets + loose.size());
  operation.request.unregistered = {operation.copied.data(), operation.copied.size()};
  pending.push_back(operation);
}

// Gives a request to the device, or ends it.
void connection_core::submit(posted_base& operation) {
  if (const error_code error = check_memory(operation)) return end(operation, error);
  operation.owner = shared_from_this();
  posted_.push_back(operation);
  const bool receive = operation.in == posted_base::queue::receive;
  ++(receive ? receives_posted_ : sends_posted_);
  const auto posted = post(operation);
  if (posted) return;
  --(receive ? receives_posted_ : sends_posted_);
  posted_.erase(operation);
  const auto owner = std::move(operation.owner);
  give_back_place(operation);
  end(operation, post_error(operation, posted.error()));
}

Result<void, verbs::PostError> connection_core::post(posted_base& operation) {
  const auto wr_id = reinterpret_cast<std::uintptr_t>(&operation);
  if (operation.in == posted_base::queue::send) return post_send(operation, wr_id);
  const sges into(operation.request.local);
  return qp_->post_receive({.wr_id = wr_id, .sges = into.all()});
}

Result<void, verbs::PostError> connection_core::post_send(posted_base& operation,
                                                          std::uint64_t wr_id) {
  const send_request& request = operation.request;
  const sges registered(request.local);
  verbs::SendWr wr{.wr_id = wr_id,
                   .opcode = request.opcode,
                   .sges = registered.all(),
                   .remote_stag = request.remote.stag,
                   .remote_offset = request.remote.offset,
                   .invalidate_stag = request.invalidate,
                   .immediate = request.immediate,
                   .atomic = request.atomic};
  if (request.fence) wr.flags = wr.flags | verbs::SendFlags::kFence;
  if (request.solicited) wr.flags = wr.flags | verbs::SendFlags::kSolicited;
  verbs::Sge other;
  const std::size_t loose = request.unregistered.size();
  if (loose > max_inline_) {
    other = copy_of_message(operation);
    wr.sges = {&other, 1};
  } else if (loose != 0) {
    wr.flags = wr.flags | verbs::SendFlags::kInline;
    other = verbs::inline_sge({static_cast<const std::byte*>(request.unregistered.data()), loose});
    wr.sges = {&other, 1};
  }
  if (operation.is_atomic) {
    other = place_for_atomic(operation);
    wr.sges = {&other, 1};
  }
  if (request.opcode == verbs::Opcode::kBindWindow) wr.bind = &operation.bind;
  return qp_->post_send(wr);
}

verbs::Sge connection_core::place_for_atomic(posted_base& operation) {
  operation.places = &*atomics_;
  operation.place = atomics_->take();
  return atomics_->sge(operation.place, kAtomicSize);
}

// Adapters have less inline than a connection has by default.
verbs::Sge connection_core::copy_of_message(posted_base& operation) {
  const auto& message = operation.request.unregistered;
  operation.places = &*copies_;
  operation.place = copies_->take();
  std::memcpy(copies_->at(operation.place), message.data(), message.size());
  return copies_->sge(operation.place, static_cast<std::uint32_t>(message.size()));
}

void connection_core::give_back_place(posted_base& operation) {
  if (operation.places == nullptr) return;
  std::exchange(operation.places, nullptr)->give_back(operation.place);
}

// A request that ends makes room for the one that has waited longest.
void connection_core::post_pending(posted_base::queue which) {
  const bool receive = which == posted_base::queue::receive;
  operation_list& pending = receive ? pending_receives_ : pending_sends_;
  std::uint32_t& posted = receive ? receives_posted_ : sends_posted_;
  const std::uint32_t most = receive ? options_.max_receives : options_.max_sends;
  while (posted < most && !pending.empty()) {
    submit(static_cast<posted_base&>(*pending.pop_front()));
  }
  if (!receive && pending.empty() && !shutdowns_.empty()) qp_->disconnect();
}

void connection_core::on_completion(const verbs::Completion& completion) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): post() made the number of the pointer
  auto& operation = *reinterpret_cast<posted_base*>(static_cast<std::uintptr_t>(completion.wr_id));
  const auto owner = std::move(operation.owner);
  const session held(*owner);
  owner->finish(operation, completion);
}

void connection_core::finish(posted_base& operation, const verbs::Completion& completion) {
  const auto which = operation.in;
  posted_.erase(operation);
  --(which == posted_base::queue::receive ? receives_posted_ : sends_posted_);
  error_code error;
  if (completion.status != verbs::Status::kSuccess) {
    error = status_error(operation, completion.status);
  } else if (closed_) {
    error = operation_aborted;
  } else if (which == posted_base::queue::receive) {
    static_cast<posted<received>&>(operation).result = result_of(completion);
  }
  if (operation.is_atomic) {
    std::memcpy(&static_cast<posted<std::uint64_t>&>(operation).result,
                atomics_->at(operation.place), kAtomicSize);
  }
  give_back_place(operation);
  end(operation, error);
  post_pending(which);
}

void connection_core::end(posted_base& operation, error_code error) {
  complete(operation, error);
  domain_->device()->end_operation();
}

received connection_core::result_of(const verbs::Completion& completion) {
  received result{completion.byte_length, {}, {}};
  if (has(completion.flags, verbs::CompletionFlags::kImmediate)) {
    result.immediate = completion.immediate;
  }
  if (has(completion.flags, verbs::CompletionFlags::kInvalidated)) {
    result.invalidated = completion.invalidated;
  }
  return result;
}

}  // namespace iwarp::asio::detail
