// Records of any length into a ring in the consumer's memory, each with a notification: an RDMA
// Write with immediate. The immediate says which slot and how long; it comes after the data (RFC
// 7306 §6), so what it announces is there. The consumer returns used slots in the same way.
//
//   notify server 7471                  consumes
//   notify client 127.0.0.1 7471        produces 10,000 records
//   notify                              both ends in this process
#include <cstring>

#include "program.hpp"

namespace net = boost::asio;
namespace iw = iwarp::asio;
using net::awaitable, net::use_awaitable;

namespace {

constexpr std::size_t kSlots = 16;
constexpr std::size_t kSlotSize = 8192;
constexpr std::uint64_t kRecords = 10'000;

// An immediate takes a receive but none of its memory: the receives are as small as can be. Each
// side has at most kSlots notifications under way.
constexpr iw::connection_options kOptions{.message_count = kSlots, .message_size = 8};

// What the eight octets say.
struct notification {
  std::uint32_t slot = 0, length = 0;
  [[nodiscard]] std::uint64_t to_immediate() const {
    return std::uint64_t{slot} << 32U | std::uint64_t{length};
  }
  static notification from(std::uint64_t immediate) {
    return {static_cast<std::uint32_t>(immediate >> 32U), static_cast<std::uint32_t>(immediate)};
  }
};

// What the producer writes and the consumer expects.
std::size_t length_of(std::uint64_t record) { return record * 7919 % (kSlotSize + 1); }
int filling_of(std::uint64_t record) { return static_cast<int>(record % 251); }

std::uint64_t immediate_of(const iw::message& message) {
  if (!message.immediate()) throw std::runtime_error("a message that is no notification");
  return *message.immediate();
}

awaitable<void> consume(iw::connection peer, iw::registered_buffer ring) {
  for (std::uint64_t record = 0;; ++record) {
    std::uint64_t value = 0;
    {
      const iw::message told = co_await peer.async_receive(use_awaitable);
      value = immediate_of(told);
    }  // the receive is posted again before the slot goes back
    const auto [slot, length] = notification::from(value);
    if (slot != record % kSlots || length != length_of(record))
      throw std::runtime_error("not the slot or the length that comes next");
    const std::byte* data = ring.data() + slot * kSlotSize;
    for (std::size_t i = 0; i < length; ++i)
      if (std::to_integer<int>(data[i]) != filling_of(record))
        throw std::runtime_error("another record than expected");
    co_await peer.async_send_immediate(value, use_awaitable);  // the slot is free
  }
}

awaitable<void> serve(iw::acceptor& acceptor, iw::domain& domain) {
  for (;;) {
    iw::registered_buffer ring(domain, kSlots * kSlotSize,
                               iw::access_rights::kLocalWrite | iw::access_rights::kRemoteWrite);
    const auto where = ring.remote().to_bytes();
    auto peer = co_await acceptor.async_accept(domain, kOptions,
                                               {.private_data = net::buffer(where)}, use_awaitable);
    examples::start_session(acceptor.get_executor(), consume(std::move(peer), std::move(ring)));
  }
}

awaitable<void> produce(iw::domain& domain, iw::endpoint server) {
  iw::connection peer(domain, kOptions);
  co_await peer.async_connect(server, use_awaitable);
  const std::vector<std::byte> told = peer.info().private_data;
  if (told.size() != iw::remote_buffer::wire_size) throw std::runtime_error("not such a server");
  const auto ring =
      iw::remote_buffer::from_bytes(std::span(told).first<iw::remote_buffer::wire_size>());
  const iw::registered_buffer record(domain, kSlotSize);
  std::uint64_t octets = 0;
  for (std::uint64_t produced = 0, consumed = 0; consumed < kRecords;) {
    if (produced == kRecords || produced == consumed + kSlots) {
      immediate_of(co_await peer.async_receive(use_awaitable));
      ++consumed;
      continue;
    }
    const std::size_t slot = produced % kSlots;
    const std::size_t length = length_of(produced);
    std::memset(record.data(), filling_of(produced), length);
    const notification note{static_cast<std::uint32_t>(slot), static_cast<std::uint32_t>(length)};
    co_await peer.async_write_immediate(record.part(0, length), ring.part(slot * kSlotSize, length),
                                        note.to_immediate(), use_awaitable);
    octets += length;
    ++produced;
  }
  std::cout << kRecords << " records, " << octets << " octets\n";
  co_await peer.async_shutdown(use_awaitable);
}

void run(const examples::command_line& given) {
  net::io_context context(1);  // one thread runs it
  iw::device device(context);
  iw::domain domain(device);
  const examples::ends<iw::acceptor> ends(
      given, context, device, [&](auto& acceptor) { return serve(acceptor, domain); },
      [&](const auto& at) { return produce(domain, at); });
  context.run();
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run(argc, argv, "notify [server PORT | client HOST PORT]", run);
}
