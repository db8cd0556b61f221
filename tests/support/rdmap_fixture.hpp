#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "support/endpoint.hpp"

namespace iwarp::rdmap {

inline void PrintTo(const Cause& cause, std::ostream* out) {
  *out << static_cast<unsigned>(cause.layer) << '/' << static_cast<unsigned>(cause.type) << '/'
       << static_cast<unsigned>(cause.code) << " (" << describe(cause) << ')';
}

}  // namespace iwarp::rdmap

namespace iwarp::test {

using rdmap::Cause;
using rdmap::Layer;
using rdmap::Opcode;
using Outcome = Result<rdmap::Event, rdmap::Fault>;

/// The event of an outcome that is expected to be a T; a default one, and a failed test, otherwise.
template <typename T>
T event_of(const Outcome& outcome) {
  if (!outcome) {
    ADD_FAILURE() << "fault: " << rdmap::describe(outcome.error().terminate.cause);
    return {};
  }
  const T* event = std::get_if<T>(&*outcome);
  if (event == nullptr) ADD_FAILURE() << "another event: number " << outcome->index();
  return event == nullptr ? T{} : *event;
}

inline bool is_dropped(const Outcome& outcome) {
  return outcome && std::holds_alternative<rdmap::Placed>(*outcome);
}

inline void expect_fault(const Outcome& outcome, const Cause& cause) {
  ASSERT_FALSE(outcome) << "no fault, but event " << outcome->index();
  EXPECT_EQ(outcome.error().terminate.cause, cause);
}

inline constexpr Cause kUnexpectedOpcode{Layer::kRdmap, 2, 0x06};
inline constexpr Cause kInvalidRdmapVersion{Layer::kRdmap, 2, 0x05};
inline constexpr Cause kNoBuffer{Layer::kDdp, 2, 0x02};

/// An endpoint whose peer is the test itself. Its memory: `exposed` may be written and read by the
/// peer, `local` by nobody but this end; `receive` holds posted receives.
class ReceiverTest : public testing::Test {
 protected:
  static constexpr std::size_t kSize = 512;

  explicit ReceiverTest(const EndpointOptions& options = {})
      : endpoint(options),
        exposed(endpoint.enable(kSize, ddp::Rights::kRemoteWrite | ddp::Rights::kRemoteRead)),
        local(endpoint.enable(kSize, ddp::Rights::kLocalWrite)),
        inbox(endpoint.enable(kSize, ddp::Rights::kLocalWrite)) {}
  ~ReceiverTest() override { EXPECT_TRUE(endpoint.canaries_intact()); }

  Outcome take(const Ulpdu& ulpdu) { return endpoint.receive(ulpdu); }
  Outcome take_write(std::uint64_t at, ConstBytes payload, ddp::Last last = ddp::Last::kYes) {
    return take(segment(tagged(Opcode::kWrite, exposed.stag, exposed.to(at), last), payload));
  }
  Outcome take_send(std::uint32_t msn, std::uint32_t mo, ConstBytes payload,
                    ddp::Last last = ddp::Last::kYes) {
    return take(segment(untagged(Opcode::kSend, msn, mo, last), payload));
  }
  void post_receive(std::uint64_t cookie, std::uint32_t length = kSize) {
    endpoint.receives.post(cookie, {inbox.sge(0, length)});
  }
  /// Lets a Read of ours leave: `length` octets into `local`.
  void issue_read(std::uint32_t length) {
    endpoint.post(request_of(rdmap::Operation::kRead), {local.sge(0, length)});
    EXPECT_EQ(endpoint.transmit(1500).size(), 1U);
  }
  static bool all_zero(ConstBytes bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
  }
  /// Whether nothing at all has been placed.
  [[nodiscard]] bool untouched() const {
    return all_zero(exposed.memory.bytes()) && all_zero(local.memory.bytes()) &&
           all_zero(inbox.memory.bytes());
  }
  static bool equal(ConstBytes a, ConstBytes b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

  Endpoint endpoint;
  Region& exposed;
  Region& local;
  Region& inbox;
};

}  // namespace iwarp::test
