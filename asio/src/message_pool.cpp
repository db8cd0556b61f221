#include "iwarp/asio/message_pool.hpp"

#include <utility>

#include "connection_core.hpp"
#include "iwarp/verbs/log.hpp"
#include "make_shared_here.hpp"
#include "pool_core.hpp"
#include "throw_error.hpp"

namespace iwarp::asio {
namespace detail {

pool_core::pool_core(domain& in, const message_pool_options& options)
    : domain_(in.core_),
      memory_(in, std::size_t{options.count} * options.message_size),
      queue_(value_or_throw(domain_->pd().create_srq(
          {.max_wr = options.count, .max_sge = 1, .share = options.share}))),
      slots_(options.count) {
  for (std::uint32_t i = 0; i < options.count; ++i) {
    slots_[i].number = i;
    slots_[i].buffer = memory_.part(std::size_t{i} * options.message_size, options.message_size);
  }
  domain_->device()->add_room(options.count);
}

void pool_core::attach() {
  number_ = domain_->device()->add_pool(weak_from_this());
  for (message_slot& slot : slots_) post(slot);
}

pool_core::~pool_core() {
  if (number_) domain_->device()->remove_pool(*number_);
  domain_->device()->remove_room(count());
}

// Cannot fail: there is room for each slot, and nothing in a request of one's own is malformed.
void pool_core::post(message_slot& slot) {
  const verbs::Sge where{slot.buffer.data(), static_cast<std::uint32_t>(slot.buffer.size()),
                         slot.buffer.lkey()};
  posted_.fetch_add(1);
  const std::uint64_t wr_id = pool_wr_id{*number_, slot.number}.to_wr_id();
  if (queue_.post_receive({.wr_id = wr_id, .sges = {&where, 1}})) return;
  posted_.fetch_sub(1);
  verbs::log(verbs::LogLevel::kWarn, "message pool: a buffer could not be posted again");
}

void pool_core::give_back(message_slot& slot) {
  if (!domain_->device()->inherited()) post(slot);
}

void pool_core::on_completion(std::uint32_t number, const verbs::Completion& completion) {
  posted_.fetch_sub(1);
  message_slot& slot = slots_[number];
  const auto connection = domain_->device()->connection_of(completion.qp_number);
  if (!connection || completion.status != verbs::Status::kSuccess) {
    post(slot);
    if (connection) connection->on_failed_message(completion);
    return;
  }
  const bool immediate = has(completion.flags, verbs::CompletionFlags::kImmediate);
  slot.size = immediate ? 0 : completion.byte_length;
  slot.written = immediate ? completion.byte_length : 0;
  slot.immediate = immediate ? std::optional(completion.immediate) : std::nullopt;
  const bool invalidated = has(completion.flags, verbs::CompletionFlags::kInvalidated);
  slot.invalidated = invalidated ? std::optional(completion.invalidated) : std::nullopt;
  connection->on_message(message(shared_from_this(), &slot));
}

}  // namespace detail

// ---- Messages ----

message::message(std::shared_ptr<detail::pool_core> pool, detail::message_slot* slot)
    : pool_(std::move(pool)), slot_(slot) {}

message::~message() {
  if (slot_ != nullptr) pool_->give_back(*slot_);
}

message::message(message&& other) noexcept
    : pool_(std::move(other.pool_)), slot_(std::exchange(other.slot_, nullptr)) {}

message& message::operator=(message&& other) noexcept {
  message taken(std::move(other));
  std::swap(pool_, taken.pool_);
  std::swap(slot_, taken.slot_);
  return *this;
}

const std::byte* message::data() const { return slot_ == nullptr ? nullptr : slot_->buffer.data(); }
std::size_t message::size() const { return slot_ == nullptr ? 0 : slot_->size; }

local_buffer message::buffer() const {
  return slot_ == nullptr ? local_buffer() : slot_->buffer.part(0, slot_->size);
}

std::optional<std::uint64_t> message::immediate() const {
  return slot_ == nullptr ? std::nullopt : slot_->immediate;
}

std::size_t message::written() const { return slot_ == nullptr ? 0 : slot_->written; }

std::optional<Stag> message::invalidated() const {
  return slot_ == nullptr ? std::nullopt : slot_->invalidated;
}

// ---- Pools ----

message_pool::message_pool(domain& in, const message_pool_options& options)
    : core_(detail::make_shared_here<detail::pool_core>(in, options)) {
  core_->attach();
}
message_pool::~message_pool() = default;
message_pool::message_pool(message_pool&&) noexcept = default;
message_pool& message_pool::operator=(message_pool&&) noexcept = default;
std::size_t message_pool::available() const { return core_->available(); }

}  // namespace iwarp::asio
