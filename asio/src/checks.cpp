#include <algorithm>
#include <array>
#include <cstdio>

#include "connection_core.hpp"
#include "words.hpp"

/// What is wrong with a request before it is posted: what the device would not say, or only by
/// ending the connection.
namespace iwarp::asio::detail {

bool names_peers_memory(const posted_base& operation) {
  if (operation.in != posted_base::queue::send) return false;
  switch (operation.request.opcode) {
    case verbs::Opcode::kWrite:
    case verbs::Opcode::kRead:
    case verbs::Opcode::kWriteImmediate:
    case verbs::Opcode::kFetchAdd:
    case verbs::Opcode::kCmpSwap: return true;
    default: return false;
  }
}

std::uint64_t length_of(const const_buffer_list& buffers) {
  std::uint64_t length = 0;
  const std::size_t count = std::min(buffers.size(), const_buffer_list::kMax);
  for (std::size_t i = 0; i < count; ++i) length += buffers[i].size();
  return length;
}

std::string to_text(const remote_buffer& buffer) {
  std::array<char, 96> text;
  const int size = std::snprintf(text.data(), text.size(), "STag 0x%08x, Tagged Offset 0x%llx",
                                 static_cast<unsigned>(buffer.stag.value()),
                                 static_cast<unsigned long long>(buffer.offset));
  return {text.data(), static_cast<std::size_t>(size)};
}

error_code connection_core::check(const posted_base& operation) {
  if (const error_code error = check_queue(operation)) return error;
  if (const error_code error = check_opcode(operation)) return error;
  const send_request& request = operation.request;
  const std::size_t loose = request.unregistered.size();
  if (loose != 0 && request.local.size() != 0) {
    return refuse(errc::invalid_request, operation,
                  "both registered buffers and memory that is not registered");
  }
  if (loose > options_.max_inline) {
    return refuse(errc::not_registered, operation,
                  std::to_string(loose) + " octets of memory that is not registered, and only " +
                      std::to_string(options_.max_inline) +
                      " are copied (connection_options::max_inline)");
  }
  // An atomic works on eight octets, and its own result lies with the connection.
  const std::uint64_t length = operation.is_atomic ? 8 : length_of(request.local) + loose;
  if (length > UINT32_MAX) {
    return refuse(errc::invalid_request, operation,
                  "a message of " + std::to_string(length) +
                      " octets; 4 GiB less one are the most (RFC 5041 §5.2)");
  }
  return names_peers_memory(operation) ? check_remote(operation, length) : error_code();
}

// Whether the connection was made for such requests.
error_code connection_core::check_queue(const posted_base& operation) {
  const bool receive = operation.in == posted_base::queue::receive;
  if ((receive ? options_.max_receives : options_.max_sends) == 0) {
    return refuse(errc::invalid_request, operation,
                  receive ? "the connection was made with max_receives 0"
                          : "the connection was made with max_sends 0");
  }
  if (receive && pool_) {
    return refuse(errc::has_message_pool, operation,
                  "the connection receives into its message pool");
  }
  const std::size_t count = operation.request.local.size();
  if (count <= std::min<std::size_t>(options_.max_buffers, const_buffer_list::kMax)) return {};
  return refuse(errc::too_many_buffers, operation,
                std::to_string(count) + " buffers, and the connection was made for " +
                    std::to_string(options_.max_buffers) + " (connection_options::max_buffers)");
}

// async_request() takes what needs no more than a send_request has.
error_code connection_core::check_opcode(const posted_base& operation) {
  if (operation.in == posted_base::queue::receive) return {};
  const bool loose = operation.request.unregistered.size() != 0;
  const auto refused = [&](const char* sentence) {
    return refuse(errc::invalid_request, operation, sentence);
  };
  switch (operation.request.opcode) {
    case verbs::Opcode::kFetchAdd:
    case verbs::Opcode::kCmpSwap:
      if (operation.is_atomic) return {};
      return refused("atomics are asked for by async_fetch_add() and async_compare_swap()");
    case verbs::Opcode::kBindWindow:
      if (operation.window_domain != nullptr) return {};
      return refused("windows are bound by async_bind()");
    case verbs::Opcode::kRegister: return refused("memory is registered by registered_memory");
    case verbs::Opcode::kRead:
      return loose ? refused("a Read needs memory that is registered") : error_code();
    default: return {};
  }
}

// The peer's memory, as far as this side knows it.
error_code connection_core::check_remote(const posted_base& operation, std::uint64_t length) {
  const remote_buffer& remote = operation.request.remote;
  if (length > remote.length) {
    return refuse(errc::beyond_remote_buffer, operation,
                  std::to_string(length) + " octets, and its remote_buffer (" + to_text(remote) +
                      ") has " + std::to_string(remote.length));
  }
  return {};
}

// Looked at when its turn comes: a registration may have ended while the request waited.
error_code connection_core::check_memory(const posted_base& operation) {
  const auto wrong = complain(operation);
  return wrong ? refuse(wrong->code, operation, wrong->sentence) : error_code();
}

std::optional<complaint> connection_core::complain(const posted_base& operation) {
  const bool receive = operation.in == posted_base::queue::receive;
  const verbs::Opcode opcode = operation.request.opcode;
  if (!receive && opcode == verbs::Opcode::kBindWindow) {
    return domain_->complain(operation.bind, operation.window_domain, last_known_);
  }
  verbs::Access needed = verbs::Access::kNone;
  if (receive) needed = verbs::Access::kLocalWrite;
  if (!receive && opcode == verbs::Opcode::kRead) needed = domain_->pd().read_sink();
  const const_buffer_list& local = operation.request.local;
  for (std::size_t i = 0; i < local.size(); ++i) {
    if (auto wrong = domain_->complain(local[i], needed, last_known_)) return wrong;
  }
  return std::nullopt;
}

}  // namespace iwarp::asio::detail
