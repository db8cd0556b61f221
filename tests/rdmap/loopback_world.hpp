#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "support/endpoint.hpp"
#include "support/random.hpp"

namespace iwarp::test {

/// What a side must see delivered, in this order.
struct ExpectedSend {
  std::uint64_t cookie = 0;
  Ulpdu payload;
  bool solicited = false;
  std::optional<Stag> invalidated;
};

/// One end of a stream with its memory, and what that memory must hold once all is done.
class Side {
 public:
  static constexpr std::uint32_t kSize = 24000;

  /// Memory that messages land in, handed out piece by piece so that no two overlap.
  struct Landing {
    Region& region;
    Ulpdu image;                 ///< What it must hold.
    std::vector<bool> allotted;  ///< Octets that some message may fill.
    std::uint32_t used = 0;

    explicit Landing(Region& r) : region(r), image(kSize), allotted(kSize) {}
    [[nodiscard]] bool has_room(std::uint32_t length) const { return used + length <= kSize; }
    /// A list of `length` octets in pieces of random sizes with gaps between them.
    std::vector<ddp::Sge> allot(std::uint32_t length, Random& random);
    /// Notes that `data` will lie in `list`.
    void expect(const std::vector<ddp::Sge>& list, ConstBytes data);
    [[nodiscard]] bool holds_image() const;
    /// Whether nothing changed but what was allotted.
    [[nodiscard]] bool rest_untouched() const;
  };

  explicit Side(const EndpointOptions& with);

  /// A random list of `length` octets out of `source`; `data` becomes what it holds.
  std::vector<ddp::Sge> gather(std::uint32_t length, Random& random, Ulpdu& data);
  /// Plans some segments, takes some of that back, and hands over the rest.
  void transmit(Random& random);
  /// Whether nothing could be sent now.
  [[nodiscard]] bool silent();

  const EndpointOptions options;
  Endpoint endpoint;
  Region& source;   ///< The peer may read it; never changes.
  Region& shut;     ///< Same domain, no rights at all.
  Region& foreign;  ///< All rights, another domain.
  Landing exposed;  ///< The peer may write it.
  Landing sink;     ///< Our Reads end here.
  Landing inbox;    ///< Receives.
  std::deque<Ulpdu> wire;
  std::deque<ExpectedSend> expected;
  std::uint32_t posted = 0;
  std::uint64_t receives_posted = 0;
  std::uint32_t writes_due = 0;
};

/// Checks that everything that was to be delivered and placed at a side has been, and nothing else.
void expect_landed(const Side& side);

/// Two ends and the wires between them, driven by a seed.
class World {
 public:
  explicit World(std::uint64_t seed);
  virtual ~World() = default;

  /// Posts and carries until `operations` are done on each side and all is quiet.
  void run(std::uint32_t operations);
  /// The same, but stops after some steps: a broken stream may never come to an end.
  void run_for(std::uint32_t operations, int steps);

  Random random;
  std::unique_ptr<Side> sides[2];

 protected:
  /// Sends some of what is to be sent.
  virtual void transmit(Side& from) { from.transmit(random); }
  /// Lets some of what was sent arrive.
  virtual void convey(Side& from, Side& to) {
    if (!from.wire.empty()) carry(from.wire, to);
  }
  /// Whether nothing of a side is under way or could be sent.
  virtual bool silent(Side& side) { return side.wire.empty() && side.silent(); }
  /// Checks that a delivery is the one that is due.
  static void expect_due(const rdmap::SendDelivered& sent, Side& to);
  /// What the wire does to the oldest segment; the default is to deliver it.
  virtual void carry(std::deque<Ulpdu>& wire, Side& to);
  /// Takes one segment in and checks what it brings about.
  virtual void deliver(const Ulpdu& ulpdu, Side& to);

 private:
  void step();
  void post(Side& from, Side& to);
  void post_send(Side& from, Side& to);
  void post_write(Side& from, Side& to);
  void post_read(Side& from, Side& to);
  std::uint32_t some_length();
  bool quiet();

  std::uint32_t operations_ = 0;

 protected:
  std::uint32_t longest_ = 1500;  // octets of a message, less than 4000
};

}  // namespace iwarp::test
