#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "iwarp/mpa/startup_frame.hpp"
#include "verbs/startup_world.hpp"

/// Peers that follow a script instead of a start-up, and what they say.
namespace iwarp::verbs::soft::test {

/// A TCP end without MPA: keeps what it reads, writes what it is told.
class RawPeer {
 public:
  /// Connects.
  RawPeer(World& world, const Endpoint& to) : RawPeer(*world.client(), to) {}
  RawPeer(tcp_offload::Device& from, const Endpoint& to) {
    attempt_ = from.async_connect(
        to, [this](std::error_code e, std::unique_ptr<tcp_offload::Connection> c) {
          error = e;
          if (c) begin(std::move(c));
        });
  }
  explicit RawPeer(std::unique_ptr<tcp_offload::Connection> accepted) {
    begin(std::move(accepted));
  }

  [[nodiscard]] bool connected() const { return connection != nullptr; }
  /// Writes after what was written before.
  void write(const Bytes& bytes) {
    to_write_.insert(to_write_.end(), bytes.begin(), bytes.end());
    if (connection && written_.empty()) write_more();
  }
  /// Whether the other end has closed or reset.
  [[nodiscard]] bool ended() const { return static_cast<bool>(error); }
  [[nodiscard]] bool closed_properly() const { return error == tcp_offload::Error::kEndOfStream; }

  std::unique_ptr<tcp_offload::Connection> connection;
  Bytes received;
  std::error_code error;
  std::function<void()> on_octets;   ///< More has been received.
  std::function<void()> on_written;  ///< Everything so far is with TCP.

 private:
  void begin(std::unique_ptr<tcp_offload::Connection> c) {
    connection = std::move(c);
    read();
    if (!to_write_.empty()) write_more();
  }
  void read() {
    connection->async_read_some(scratch_, [this](std::error_code e, std::size_t n) {
      received.insert(received.end(), scratch_.begin(),
                      scratch_.begin() + static_cast<std::ptrdiff_t>(n));
      if (e) {
        error = e;
        return;
      }
      read();
      const auto tell = on_octets;  // it may replace itself
      if (tell) tell();
    });
  }
  void write_more() {
    written_ = std::exchange(to_write_, {});
    connection->async_write(written_, [this](std::error_code e, std::size_t) {
      written_.clear();
      if (e) return;
      if (!to_write_.empty()) return write_more();
      if (on_written) on_written();
    });
  }

  Bytes scratch_ = Bytes(4096);
  Bytes to_write_, written_;
  std::unique_ptr<tcp_offload::ConnectAttempt> attempt_;
};

/// A TCP server without MPA. Each peer it accepts is given to the script.
class RawServer {
 public:
  using Script = std::function<void(RawPeer&, std::size_t number)>;

  RawServer(World& world, Script script) : script_(std::move(script)) {
    acceptor_ = std::move(world.server()->listen(world.any_port(), 16)).value();
    endpoint = acceptor_->local_endpoint();
    accept();
  }

  Endpoint endpoint;
  std::vector<std::unique_ptr<RawPeer>> peers;

 private:
  void accept() {
    acceptor_->async_accept([this](std::error_code e, std::unique_ptr<tcp_offload::Connection> c) {
      if (e) return;
      peers.push_back(std::make_unique<RawPeer>(std::move(c)));
      script_(*peers.back(), peers.size());
      accept();
    });
  }

  Script script_;
  std::unique_ptr<tcp_offload::Acceptor> acceptor_;
};

inline std::string to_string_of(const Endpoint& endpoint) {
  return endpoint.address().to_string() + ":" + std::to_string(endpoint.port());
}

inline Bytes encoded(const mpa::StartupFrame& frame) {
  Bytes bytes(frame.size());
  frame.encode(bytes).value();
  return bytes;
}

inline mpa::StartupFrame enhanced_frame(mpa::FrameKind kind, mpa::EnhancedData data = {},
                                        ConstBytes private_data = {}) {
  mpa::StartupFrame frame;
  frame.kind = kind;
  frame.enhanced = data;
  frame.private_data = private_data;
  return frame;
}

inline mpa::EnhancedData data_of(std::uint16_t ird, std::uint16_t ord,
                                 mpa::RtrSet rtr = mpa::RtrSet::all(),
                                 mpa::ConnectionModel model = mpa::ConnectionModel::kPeerToPeer) {
  mpa::EnhancedData data;
  data.model = model;
  data.rtr = rtr;
  data.ird = mpa::ReadDepth(ird);
  data.ord = mpa::ReadDepth(ord);
  return data;
}

inline Bytes request_of(std::uint16_t ird = 16, std::uint16_t ord = 16,
                        std::size_t private_data = 0) {
  const Bytes data = pattern(private_data);
  return encoded(enhanced_frame(mpa::FrameKind::kRequest, data_of(ird, ord), data));
}

inline Bytes with_octet(Bytes bytes, std::size_t at, unsigned value) {
  bytes.at(at) = std::byte(value);
  return bytes;
}

/// What a stream brings until `size` octets are there.
inline Bytes read_stream(World& world, tcp_offload::Stream& stream, std::size_t size) {
  Bytes scratch(4096), all;
  world.run_until([&] {
    const auto received = stream.receive(scratch);
    all.insert(all.end(), received.data.begin(), received.data.end());
    if (!received.data.empty()) stream.consume(received.data.size());
    return all.size() >= size || received.status == tcp_offload::IoStatus::kLost ||
           received.status == tcp_offload::IoStatus::kEndOfStream;
  });
  return all;
}

inline void send_stream(tcp_offload::Stream& stream, Bytes& bytes) {
  const iovec piece{bytes.data(), bytes.size()};
  static_cast<void>(stream.send({&piece, 1}));
}

inline ConnectOptions without_fall_back() {
  ConnectOptions options;
  options.fall_back = false;
  return options;
}

inline Bytes accepting_reply(std::size_t private_data = 0) {
  const Bytes data = pattern(private_data);
  return encoded(enhanced_frame(mpa::FrameKind::kReply, data_of(16, 16), data));
}

inline mpa::StartupFrame plain_reply(mpa::Revision revision) {
  mpa::StartupFrame frame;
  frame.kind = mpa::FrameKind::kReply;
  frame.revision = revision;
  return frame;
}

/// A peer that answers whatever it gets first.
inline RawServer::Script answering(const Bytes& octets) {
  return [octets](RawPeer& peer, std::size_t) {
    peer.on_octets = [&peer, octets] {
      peer.on_octets = nullptr;
      peer.write(octets);
    };
  };
}

/// A peer that closes after the first octets, having answered a few.
inline RawServer::Script closing_after(const Bytes& octets) {
  return [octets](RawPeer& peer, std::size_t) {
    peer.on_octets = [&peer, octets] {
      peer.on_octets = nullptr;
      if (octets.empty()) {
        peer.connection->close();
        return;
      }
      peer.write(octets);
      peer.on_written = [&peer] { peer.connection->close(); };
    };
  };
}

/// How a start-up ends whose peer does as the script says.
inline Error outcome_of(const RawServer::Script& script, const ConnectOptions& options) {
  SimWorld world;
  RawServer server(world, script);
  Connecting connecting;
  EXPECT_TRUE(connecting.start(world, server.endpoint, options));
  EXPECT_TRUE(world.run_until([&] { return connecting.done(); }));
  if (connecting.error() == nullptr) return {};
  EXPECT_THAT(connecting.error()->message, testing::HasSubstr(to_string_of(server.endpoint)));
  world.net.run_until_idle();
  EXPECT_TRUE(server.peers.empty() || server.peers.back()->ended());
  return *connecting.error();
}

}  // namespace iwarp::verbs::soft::test
