#pragma once

#include "verbs/adopt_support.hpp"

/// Start-ups in virtual time, one for each of their deadlines.
namespace iwarp::verbs::soft::test::timing {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

inline constexpr unsigned kClient = 1, kServer = 2;

/// A start-up under one of the deadlines.
class Scenario {
 public:
  virtual ~Scenario() = default;
  [[nodiscard]] virtual bool done() = 0;
  /// Why it failed; none if it has come through.
  [[nodiscard]] virtual std::optional<std::errc> failure() = 0;
};
using Make = std::function<std::unique_ptr<Scenario>(SimWorld&)>;

inline std::optional<std::errc> failure_in(const Error* error) {
  if (error == nullptr) return std::nullopt;
  return static_cast<std::errc>(error->code.value());
}

inline tcp_offload::SimOptions narrow() {
  tcp_offload::SimOptions options;
  options.send_buffer = options.receive_buffer = 8;
  return options;
}

// ---- The initiator.

class ConnectingTo : public Scenario {
 public:
  ConnectingTo(SimWorld& world, const RawServer::Script& script, const ConnectOptions& options)
      : server_(world, script) {
    EXPECT_TRUE(connecting_.start(world, server_.endpoint, options));
  }
  bool done() override { return connecting_.done(); }
  std::optional<std::errc> failure() override { return failure_in(connecting_.error()); }

 private:
  RawServer server_;
  Connecting connecting_;
};

inline Make connects_to(const RawServer::Script& script, const ConnectOptions& options = {}) {
  return [=](SimWorld& world) { return std::make_unique<ConnectingTo>(world, script, options); };
}

/// A peer whose Reply comes in two parts, so that it takes more reads than a whole one.
class ConnectingToASlowOne : public Scenario {
 public:
  ConnectingToASlowOne(SimWorld& world, std::size_t first, milliseconds between)
      : between_(world.server()->make_timer()),
        server_(world, [=, this](RawPeer& peer, std::size_t) {
          peer.on_octets = [=, this, &peer] {
            peer.on_octets = nullptr;
            if (first != 0) peer.write(first_of(reply_, first));
            between_->async_wait(between,
                                 [=, this, &peer](auto) { peer.write(behind_of(reply_, first)); });
          };
        }) {
    EXPECT_TRUE(connecting_.start(world, server_.endpoint));
  }
  bool done() override { return connecting_.done(); }
  std::optional<std::errc> failure() override { return failure_in(connecting_.error()); }

 private:
  const Bytes reply_ = accepting_reply(100);
  std::unique_ptr<tcp_offload::Timer> between_;
  RawServer server_;
  Connecting connecting_;
};

inline Make takes_a_reply_in_two_parts(std::size_t first, milliseconds between) {
  return [=](SimWorld& world) {
    return std::make_unique<ConnectingToASlowOne>(world, first, between);
  };
}

inline RawServer::Script closing_the_first() {
  return [](RawPeer& peer, std::size_t number) {
    peer.on_octets = [&peer, number] {
      peer.on_octets = nullptr;
      if (number == 1) return peer.connection->close();
      peer.write(encoded(plain_reply(mpa::Revision::k1)));
    };
  };
}

/// A server that comes to listen while the initiator tries again.
class Trying : public Scenario {
 public:
  explicit Trying(SimWorld& world) : begin_(world.server()->make_timer()) {
    ConnectOptions options;
    options.retry_refused = milliseconds(300);
    const Endpoint at(boost::asio::ip::make_address("10.0.0.2"), 700);
    begin_->async_wait(milliseconds(100), [this, &world, at](std::error_code) {
      acceptor_ = std::move(world.server()->listen(at, 4)).value();
      acceptor_->async_accept([this](std::error_code, std::unique_ptr<tcp_offload::Connection> c) {
        peer_ = std::make_unique<RawPeer>(std::move(c));
        answering(accepting_reply())(*peer_, 1);
      });
    });
    EXPECT_TRUE(connecting_.start(world, at, options));
  }
  bool done() override { return connecting_.done(); }
  std::optional<std::errc> failure() override { return failure_in(connecting_.error()); }

 private:
  std::unique_ptr<tcp_offload::Timer> begin_;
  std::unique_ptr<tcp_offload::Acceptor> acceptor_;
  std::unique_ptr<RawPeer> peer_;
  Connecting connecting_;
};

/// All places of the backlog are taken: no answer to the SYN.
class NotAccepted : public Scenario {
 public:
  explicit NotAccepted(SimWorld& world)
      : acceptor_(std::move(world.server()->listen(world.any_port(), 1)).value()),
        other_(world, acceptor_->local_endpoint()) {
    EXPECT_TRUE(world.run_until([&] { return other_.connected(); }));
    EXPECT_TRUE(connecting_.start(world, acceptor_->local_endpoint()));
  }
  bool done() override { return connecting_.done(); }
  std::optional<std::errc> failure() override { return failure_in(connecting_.error()); }

 private:
  std::unique_ptr<tcp_offload::Acceptor> acceptor_;
  RawPeer other_;
  Connecting connecting_;
};

class Adopting : public Scenario {
 public:
  Adopting(SimWorld& world, const Bytes& answer) : ends_(world), peer_(std::move(ends_.server)) {
    if (!answer.empty()) answering(answer)(peer_, 1);
    StreamingConnection streaming{std::move(ends_.client), {}};
    EXPECT_TRUE(initiating_.start(world, streaming));
  }
  bool done() override { return initiating_.done(); }
  std::optional<std::errc> failure() override { return failure_in(initiating_.error()); }

 private:
  Ends ends_;
  RawPeer peer_;
  Initiating initiating_;
};

inline Make adopts(const Bytes& answer) {
  return [=](SimWorld& world) { return std::make_unique<Adopting>(world, answer); };
}

// ---- The responder.

enum class Answer { kNone, kAccept, kReject };
enum class Peer { kReads, kDoesNotRead };

/// A listener, and a program that answers a Request some time after it has come.
class Responder : public Scenario {
 public:
  Responder(SimWorld& world, Answer answer, milliseconds after, std::size_t asked, Peer peer,
            milliseconds between = milliseconds(2))
      : world_(world), answer_(answer), after_(after), between_(between) {
    listening_.on_incoming = [this](std::unique_ptr<provider::IncomingConnection> incoming) {
      incoming_ = std::move(incoming);
      if (answer_ == Answer::kNone) return;
      decided_->async_wait(after_, [this](std::error_code) { decide(); });
    };
    ask(asked, peer);
  }

  bool done() override {
    if (answer_ == Answer::kReject) return kept_.result.has_value();
    return qp_->done() || no_request_ || (peer_ && peer_->ended());
  }
  std::optional<std::errc> failure() override {
    if (no_request_) return failure_in(&*no_request_);
    if (answer_ == Answer::kNone) return std::errc::timed_out;
    if (answer_ != Answer::kReject) return failure_in(qp_->error());
    return *kept_.result ? std::nullopt : failure_in(&kept_.result->error());
  }

 private:
  provider::ListenOptions options() {
    provider::ListenOptions options;
    options.on_no_request = [this](const Error& error) { no_request_ = error; };
    return options;
  }

  // The first `asked` octets of a Request, and the others a moment later; all but the last, if the
  // Request is not to be whole.
  void ask(std::size_t asked, Peer peer) {
    if (peer == Peer::kDoesNotRead) {
      attempt_ = world_.client()->async_connect(
          listening_.endpoint,
          [this](std::error_code, std::unique_ptr<tcp_offload::Connection> connected) {
            mute_ = std::move(connected);
            mute_->async_write(request_, [](std::error_code, std::size_t) {});
          });
      return;
    }
    peer_.emplace(world_, listening_.endpoint);
    peer_->write(first_of(request_, asked));
    if (asked < kHalf) return;
    rest_->async_wait(between_,
                      [this, asked](std::error_code) { peer_->write(behind_of(request_, asked)); });
  }

  void decide() {
    if (answer_ == Answer::kAccept) {
      ConnectOptions options;
      options.private_data = pattern(60);
      EXPECT_TRUE(incoming_->accept(qp_, options));
    } else {
      EXPECT_TRUE(kept_.reject(*incoming_, pattern(60)));
    }
  }

 public:
  static constexpr std::size_t kHalf = 10;

 private:
  SimWorld& world_;
  const Answer answer_;
  const milliseconds after_, between_;
  const Bytes request_ = request_of();
  std::optional<Error> no_request_;
  Listening listening_{world_, options()};
  std::shared_ptr<FakeQp> qp_ = std::make_shared<FakeQp>();
  Kept kept_;
  std::unique_ptr<provider::IncomingConnection> incoming_;
  std::unique_ptr<tcp_offload::Timer> decided_ = world_.server()->make_timer(),
                                      rest_ = world_.client()->make_timer();
  std::optional<RawPeer> peer_;
  std::unique_ptr<tcp_offload::ConnectAttempt> attempt_;
  std::unique_ptr<tcp_offload::Connection> mute_;
};

inline Make responds(Answer answer, milliseconds after, std::size_t asked = Responder::kHalf,
                     Peer peer = Peer::kReads) {
  return [=](SimWorld& world) {
    return std::make_unique<Responder>(world, answer, after, asked, peer);
  };
}

inline Make responds_to_a_late_request(milliseconds between) {
  return [=](SimWorld& world) {
    return std::make_unique<Responder>(world, Answer::kAccept, milliseconds(0), Responder::kHalf,
                                       Peer::kReads, between);
  };
}

/// A connection that was used before: its last message goes out, then the Request is awaited.
class Awaiting : public Scenario {
 public:
  Awaiting(SimWorld& world, std::size_t last_message, const Bytes& request, Peer peer)
      : ends_(world) {
    if (peer == Peer::kReads) {
      peer_.emplace(std::move(ends_.client));
      if (!request.empty()) peer_->write(request);
    }
    provider::AwaitOptions options;
    options.last_message = pattern(last_message);
    responding_.emplace(world, StreamingConnection{std::move(ends_.server), {}}, options);
  }
  bool done() override { return responding_->done(); }
  std::optional<std::errc> failure() override { return failure_in(responding_->error()); }

 private:
  Ends ends_;
  std::optional<RawPeer> peer_;
  std::optional<Responding> responding_;
};

inline Make awaits(std::size_t last_message, const Bytes& request, Peer peer = Peer::kReads) {
  return [=](SimWorld& world) {
    return std::make_unique<Awaiting>(world, last_message, request, peer);
  };
}

/// Both ends are ours, in one program.
class Both : public Scenario {
 public:
  explicit Both(SimWorld& world) : listening_(world) {
    listening_.on_incoming = [this](std::unique_ptr<provider::IncomingConnection> incoming) {
      EXPECT_TRUE(incoming->accept(qp_, {}));
    };
    EXPECT_TRUE(connecting_.start(world, listening_.endpoint));
  }
  bool done() override { return connecting_.done() && qp_->done(); }
  std::optional<std::errc> failure() override {
    const auto here = failure_in(connecting_.error());
    return here ? here : failure_in(qp_->error());
  }

 private:
  Listening listening_;
  std::shared_ptr<FakeQp> qp_ = std::make_shared<FakeQp>();
  Connecting connecting_;
};

template <typename S>
Make plain() {
  return [](SimWorld& world) { return std::make_unique<S>(world); };
}

}  // namespace iwarp::verbs::soft::test::timing
