#include "iwarp/asio/error.hpp"

#include <boost/asio/error.hpp>

namespace iwarp::asio {
namespace {

const char* text_of(errc code) {
  switch (code) {
    case errc::not_registered:
      return "verbs: local memory is not registered, or in another domain, or not all of it";
    case errc::message_too_long: return "RDMAP: a message is longer than the receive that takes it";
    case errc::remote_access: return "RDMAP: the peer refused the STag, the range or the access";
    case errc::remote_invalid_request: return "RDMAP: the peer refused the request as malformed";
    case errc::remote_operation: return "RDMAP: the peer failed";
    case errc::window_bind: return "verbs: the memory window cannot be bound so";
    case errc::local_queue_pair: return "verbs: a defect inside the queue pair";
    case errc::connection_lost: return "RDMAP: the connection ended with the operation under way";
    case errc::not_connected: return "verbs: there is no connection, or it is over";
    case errc::rejected: return "MPA: the peer's program rejected the connection";
    case errc::invalid_request: return "verbs: the request makes no sense as it is";
    case errc::too_many_buffers: return "verbs: more buffers than the connection was made for";
    case errc::no_message_pool:
      return "asio: the connection has no message pool, which async_receive() takes messages from";
    case errc::has_message_pool:
      return "asio: the connection receives into its message pool, not into buffers of the caller";
    case errc::not_supported: return "verbs: the connection was not made for this";
    case errc::not_writable:
      return "verbs: local memory was registered without the right to write there";
    case errc::beyond_remote_buffer:
      return "asio: the operation is longer than its remote_buffer, so nothing of it was sent";
  }
  return "asio: unknown error";
}

// Boost's base has no virtual destructor, as no category is destroyed through it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class misuse_category final : public boost::system::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "iwarp"; }
  [[nodiscard]] std::string message(int value) const override {
    return text_of(static_cast<errc>(value));
  }
};

bool is_misuse(errc code) {
  switch (code) {
    case errc::not_registered:
    case errc::window_bind:
    case errc::not_connected:
    case errc::invalid_request:
    case errc::too_many_buffers:
    case errc::no_message_pool:
    case errc::has_message_pool:
    case errc::not_supported:
    case errc::not_writable:
    case errc::beyond_remote_buffer: return true;
    default: return false;
  }
}

class cause_category final : public boost::system::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "iwarp.condition"; }
  [[nodiscard]] std::string message(int value) const override {
    return value == static_cast<int>(condition::misuse)
               ? "asio: the caller asked for what cannot be"
               : "asio: unknown condition";
  }
  [[nodiscard]] bool equivalent(const error_code& code, int value) const noexcept override {
    return value == static_cast<int>(condition::misuse) &&
           code.category() == asio::error_category() && is_misuse(static_cast<errc>(code.value()));
  }
};

class terminate_category final : public boost::system::error_category {
 public:
  terminate_category(const char* name, const char* whose) : name_(name), whose_(whose) {}
  [[nodiscard]] const char* name() const noexcept override { return name_; }
  [[nodiscard]] std::string message(int value) const override {
    const auto octet = [value](unsigned shift) {
      return static_cast<std::uint8_t>(static_cast<unsigned>(value) >> shift);
    };
    return std::string(whose_) +
           verbs::describe(verbs::TerminateInfo{octet(16), octet(8), octet(0), {}});
  }

 private:
  const char* name_;
  const char* whose_;
};

#pragma GCC diagnostic pop

}  // namespace

const boost::system::error_category& error_category() noexcept {
  static const misuse_category category;
  return category;
}

const boost::system::error_category& condition_category() noexcept {
  static const cause_category category;
  return category;
}

const boost::system::error_category& sent_terminate_category() noexcept {
  static const terminate_category category("iwarp.terminate.sent", "terminated here: ");
  return category;
}

const boost::system::error_category& received_terminate_category() noexcept {
  static const terminate_category category("iwarp.terminate.received", "the peer terminated: ");
  return category;
}

}  // namespace iwarp::asio
