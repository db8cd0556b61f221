#pragma once

#include <array>
#include <functional>
#include <memory>
#include <system_error>

#include "iwarp/sim/link.hpp"
#include "pipe.hpp"

namespace iwarp::tcp_offload::sim {

constexpr SimSide other(SimSide side) {
  return side == SimSide::kConnector ? SimSide::kAcceptor : SimSide::kConnector;
}

/// A system's error code, as the kernel device would report it.
std::error_code system_error(int value);

/// A connection: two pipes and the state of its ends.
class Link {
 public:
  Link(World& world, const SimOptions& options, const Endpoint& connector,
       const Endpoint& acceptor);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  [[nodiscard]] Pipe& from(SimSide side) { return end(side).out; }
  [[nodiscard]] Pipe& towards(SimSide side) { return end(other(side)).out; }
  [[nodiscard]] const Endpoint& endpoint(SimSide side) { return end(side).endpoint; }
  [[nodiscard]] World& world() { return world_; }

  /// Why the connection is gone for this end; no error while it is not.
  [[nodiscard]] std::error_code lost(SimSide side) { return end(side).lost; }
  /// Is called when octets, FIN or room may have come, or the connection is lost. Null: nothing is.
  void set_notify(SimSide side, std::function<void()> notify) {
    end(side).notify = std::move(notify);
  }

  /// This end resets the connection.
  void abort(SimSide side);
  /// This end's owner is gone: an orderly close if everything has been read, a reset otherwise.
  void drop(SimSide side);
  /// The network breaks the connection for both ends.
  void break_both();

 private:
  // One end, and what it hears of the pipe that carries its own octets.
  struct End final : PipeObserver {
    End(Link& l, SimSide s, const SimOptions& options, const Endpoint& at)
        : link(l), side(s), out(l.world_, options, *this), endpoint(at) {}

    void on_arrival() override { link.arrived(other(side)); }
    void on_room() override { link.notify(side); }
    void on_reset() override { link.lose(other(side), reset_error()); }
    void on_break() override { link.break_both(); }

    Link& link;
    const SimSide side;
    Pipe out;
    const Endpoint endpoint;
    std::error_code lost;
    bool dropped = false;
    std::function<void()> notify;
  };

  [[nodiscard]] End& end(SimSide side) { return side == SimSide::kConnector ? a_ : b_; }
  [[nodiscard]] static std::error_code reset_error();
  void arrived(SimSide at);
  void lose(SimSide side, std::error_code error);
  void notify(SimSide side);

  World& world_;
  End a_;
  End b_;
};

/// One end of a connection: drops it when destroyed.
class LinkEnd {
 public:
  LinkEnd(Link& link, SimSide side) : link_(&link), side_(side) {}
  LinkEnd(LinkEnd&& other_end) noexcept
      : link_(std::exchange(other_end.link_, nullptr)), side_(other_end.side_) {}
  LinkEnd& operator=(LinkEnd&&) = delete;
  ~LinkEnd() {
    if (link_ != nullptr) link_->drop(side_);
  }

  /// False once it has been moved from.
  explicit operator bool() const { return link_ != nullptr; }
  [[nodiscard]] Pipe& out() const { return link_->from(side_); }
  [[nodiscard]] Pipe& in() const { return link_->towards(side_); }
  [[nodiscard]] World& world() const { return link_->world(); }
  [[nodiscard]] std::error_code lost() const { return link_->lost(side_); }
  [[nodiscard]] Endpoint local() const { return link_->endpoint(side_); }
  [[nodiscard]] Endpoint remote() const { return link_->endpoint(other(side_)); }
  void abort() const { link_->abort(side_); }
  void set_notify(std::function<void()> notify) const {
    link_->set_notify(side_, std::move(notify));
  }

 private:
  Link* link_;
  SimSide side_;
};

}  // namespace iwarp::tcp_offload::sim
