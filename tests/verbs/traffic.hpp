#pragma once

#include <optional>
#include <vector>

#include "support/random.hpp"
#include "verbs/sim_harness.hpp"

namespace iwarp::verbs::simtest {

struct TrafficOptions {
  std::uint32_t requests = 16;
  std::uint32_t longest = 3000;  ///< Octets of one message.
  bool signal_all = false;
};

/// A seeded stream of requests of every kind from one end to the other: what is posted, and what
/// must come of it, down to each octet of the memory that the peer may reach. One per direction;
/// every receive is posted when it is made.
class Traffic {
 public:
  Traffic(SimEnd& from, SimEnd& to, iwarp::test::Random& random, const TrafficOptions& options);

  /// Posts a random number of the requests that are left, as far as the send queue has room.
  void post_some();
  [[nodiscard]] bool all_posted() const { return posted_ == plan_.size(); }
  /// Whether every request and every receive has completed, however.
  [[nodiscard]] bool all_done() const;
  /// What it sends from and into, at both ends.
  [[nodiscard]] std::vector<Region*> regions() const {
    return {&source_, &sink_, &readable_, &target_, &inbox_};
  }

  /// After a run without faults: each completion in order and right, each octet where it belongs.
  void check_success() const;
  /// After any run, with everything flushed: each request completed once and in order, nothing
  /// succeeded behind a failure, and what was reported as done is right. The same of receives.
  void check_requests(mpa::Crc crc) const;
  void check_receives(mpa::Crc crc) const;

 private:
  enum class Kind { kSend, kWrite, kRead };
  struct Planned {
    SendWr request;
    std::vector<Sge> sges;
    std::vector<std::byte> inline_data;  // scribbled over once it is posted
    Kind kind = Kind::kSend;
    std::vector<std::byte> content;  // what arrives
    std::size_t at = 0;              // where: receive number, or offset in the region
  };
  struct Receive {
    std::vector<Sge> sges;
    std::size_t at = 0;  // in `inbox_`
    std::size_t request = 0;
  };

  void plan_send(Planned& planned, std::uint32_t length);
  void plan_write(Planned& planned, std::uint32_t length);
  void plan_read(Planned& planned, std::uint32_t length);
  void gather(Planned& planned, std::uint32_t length);
  void post_receives();
  std::vector<Sge> split(Region& region, std::size_t at, std::size_t length, std::uint32_t most);
  [[nodiscard]] bool signaled(const Planned& planned) const;
  void check_receive(std::size_t number, const Completion& completion) const;
  void check_image(const Region& region, Kind kind, bool only_reported) const;
  [[nodiscard]] bool reported(std::size_t index) const;

  SimEnd& from_;
  SimEnd& to_;
  iwarp::test::Random& random_;
  TrafficOptions options_;
  Region& source_;    // of `from`: what Sends and Writes gather from
  Region& sink_;      // of `from`: where Reads end up
  Region& readable_;  // of `to`: what Reads fetch
  Region& target_;    // of `to`: where Writes end up
  Region& inbox_;     // of `to`: where Sends end up
  std::size_t sink_used_ = 0, target_used_ = 0, inbox_used_ = 0;
  std::vector<Planned> plan_;
  std::vector<Receive> receives_;
  std::size_t posted_ = 0;
};

}  // namespace iwarp::verbs::simtest
