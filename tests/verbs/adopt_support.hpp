#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "soft/startup/adopt.hpp"
#include "soft/startup/responder/incoming.hpp"
#include "verbs/startup_support.hpp"

/// Connections in streaming mode, and MPA started on them.
namespace iwarp::verbs::soft::test {

inline Bytes first_of(const Bytes& bytes, std::size_t size) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}
inline Bytes behind_of(const Bytes& bytes, std::size_t size) {
  return {bytes.begin() + static_cast<std::ptrdiff_t>(size), bytes.end()};
}
inline Bytes joined(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The two ends of one connection.
struct Ends {
  explicit Ends(World& world) {
    auto acceptor = std::move(world.server()->listen(world.any_port(), 1)).value();
    const auto into = [](std::unique_ptr<tcp_offload::Connection>& place) {
      return [&place](std::error_code, std::unique_ptr<tcp_offload::Connection> connection) {
        place = std::move(connection);
      };
    };
    acceptor->async_accept(into(server));
    const auto attempt = world.client()->async_connect(acceptor->local_endpoint(), into(client));
    EXPECT_TRUE(world.run_until([this] { return client != nullptr && server != nullptr; }));
  }

  std::unique_ptr<tcp_offload::Connection> client, server;
};

/// An initiator that has adopted its connection.
class Initiating : public Connecting {
 public:
  Outcome<void> start(World& world, StreamingConnection& streaming,
                      const ConnectOptions& options = {}) {
    auto started = start_initiator(*world.client(), streaming, options, [this](StartupResult r) {
      ++calls;
      result = std::move(r);
    });
    if (!started) return failure(started.error());
    startup = std::move(*started);
    return {};
  }
};

/// A responder that has adopted its connection, until the Request is there.
class Responding {
 public:
  Responding(World& world, StreamingConnection streaming,
             const provider::AwaitOptions& options = {}) {
    startup = start_responder(
        world.server(), std::move(streaming), options,
        [this](auto outcome) {
          ++calls;
          result.emplace(std::move(outcome));
        },
        fake_qps());
  }
  [[nodiscard]] bool done() const { return result.has_value(); }
  [[nodiscard]] provider::IncomingConnection* incoming() {
    return result && *result ? result->value().get() : nullptr;
  }
  [[nodiscard]] const Error* error() const {
    return result && !*result ? &result->error() : nullptr;
  }

  int calls = 0;
  std::optional<Outcome<std::unique_ptr<provider::IncomingConnection>>> result;
  std::unique_ptr<Startup> startup;
};

inline ConnectOptions giving_back() {
  ConnectOptions options;
  options.after_rejection = AfterRejection::kGiveBack;
  return options;
}

/// What came back after a rejection.
struct Kept {
  KeepHandler handler() {
    return [this](Outcome<StreamingConnection> outcome) {
      ++calls;
      result.emplace(std::move(outcome));
    };
  }
  Outcome<void> reject(provider::IncomingConnection& incoming, ConstBytes private_data = {}) {
    return dynamic_cast<SoftIncoming&>(incoming).reject_and_keep_connection(private_data,
                                                                            handler());
  }

  int calls = 0;
  std::optional<Outcome<StreamingConnection>> result;
};

/// Whether both ends can still talk, `kept` having been given back.
inline void expect_usable(World& world, std::unique_ptr<tcp_offload::Connection> kept,
                          RawPeer& peer) {
  ASSERT_NE(kept, nullptr);
  const std::size_t before = peer.received.size();
  RawPeer program(std::move(kept));
  program.write(pattern(70, 3));
  peer.write(pattern(50, 4));
  ASSERT_TRUE(world.run_until(
      [&] { return peer.received.size() == before + 70 && program.received.size() == 50; }));
  EXPECT_EQ(behind_of(peer.received, before), pattern(70, 3));
  EXPECT_EQ(program.received, pattern(50, 4));
}

/// The Request that an initiator sends which was given no options.
inline Bytes default_request() {
  return encoded(enhanced_frame(mpa::FrameKind::kRequest,
                                data_of(16, 16, {mpa::Rtr::kWrite, mpa::Rtr::kRead})));
}

inline Bytes rejecting_reply(std::size_t private_data = 0) {
  const Bytes data = pattern(private_data);
  auto frame = enhanced_frame(mpa::FrameKind::kReply, data_of(3, 4), data);
  frame.verdict = mpa::Verdict::kRejected;
  return encoded(frame);
}

}  // namespace iwarp::verbs::soft::test
