#pragma once

#include <netinet/in.h>

#include <chrono>
#include <optional>

#include "attack.hpp"

namespace iwarp::siege {

using Clock = std::chrono::steady_clock;

struct Orders {
  Attack attack = Attack::kSilent;
  Server server = Server::kServe;
  std::uint16_t port = 0;
  std::size_t attackers = 1000;
  /// Each attacker comes from an IPv4 network of its own, else all from 127.0.0.1.
  bool many_addresses = false;
  /// New connections a second, of all attackers together.
  double rate = 2000;
  /// How long an attacker stays away before it comes back.
  std::chrono::milliseconds pause{1000};
  /// No answers come: what comes behind an answer is sent all the same.
  bool blind = false;
};

struct Tally {
  std::uint64_t connects = 0, refused = 0;  ///< TCP connections, and those that were not had.
  std::uint64_t cut_off = 0;                ///< Ended by the other end.
  std::uint64_t replies = 0, rejected = 0;  ///< MPA Replies, and those of them that reject.
  std::uint64_t sent = 0, read = 0;         ///< Octets.
};

/// One attacker: at most one connection at a time, driven by an epoll set and by a time.
class Attacker {
 public:
  Attacker(const Orders& orders, std::size_t number, int epoll, Tally& tally)
      : orders_(orders), number_(number), epoll_(epoll), tally_(tally) {}
  Attacker(const Attacker&) = delete;
  Attacker& operator=(const Attacker&) = delete;
  ~Attacker() { leave(); }

  void connect();
  /// What epoll says of its socket.
  void on_ready(std::uint32_t events);
  /// due() has come.
  void on_time();
  /// When it wants to be called, none if only its socket matters.
  [[nodiscard]] std::optional<Clock::time_point> due() const { return due_; }
  /// Whether it has no connection: then due() is when it comes back.
  [[nodiscard]] bool away() const { return fd_ < 0; }

 private:
  enum class Next : std::uint8_t { kGoOn, kWait };

  void advance();
  Next take(Step& step);
  Next send(OctetView octets);
  Next drip(OctetView octets);
  Next await_reply();
  Next await_answer();
  void receive();
  void note_reply();
  void watch();
  void reset();
  void leave();
  void lose();
  void next_step();
  [[nodiscard]] bool reads() const;
  void wait_for(std::chrono::milliseconds time) { due_ = Clock::now() + time; }

  const Orders& orders_;
  std::size_t number_;
  int epoll_;
  Tally& tally_;

  int fd_ = -1;
  std::uint32_t watched_ = 0;
  std::size_t round_ = 0;
  std::optional<Plan> plan_;
  std::size_t at_ = 0;    // which step
  std::size_t done_ = 0;  // octets of it
  bool connected_ = false, full_ = false, expired_ = false, ended_by_peer_ = false;
  bool answered_ = false;  // by something behind the Reply
  Octets inbox_;           // until the Reply is whole
  std::optional<conform::StartupFrame> reply_;
  std::optional<Clock::time_point> due_;
};

}  // namespace iwarp::siege
