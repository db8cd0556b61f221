#pragma once

#include "verbs/schedules/program.hpp"

namespace iwarp::verbs::simtest::schedules {

/// Around what a message touches there is something that it must not.
inline constexpr std::size_t kGap = 5;

/// A program in the making.
class Draft {
 public:
  Draft(Random& random, const Setting& setting, SimPair& pair)
      : random_(random), setting_(setting), pair_(pair) {}

  /// A message with a receive of its own at the peer.
  Operation& add_send(Side by);
  /// Something: one operation, or a few that belong together.
  void add_some(Side by);
  Program finish() &&;

 private:
  /// Memory that the other side has opened to this one, for one operation.
  struct Opening {
    Region* region;
    Stag stag;
    std::uint64_t to;
    std::size_t at;
  };
  enum class Opener : std::uint8_t { kWindow1, kWindow2, kFastRegion };

  void add_write(Side by, Opcode opcode);
  void add_write_to(Side by, Opcode opcode, const Opening& opening, std::uint32_t length);
  void add_read(Side by);
  void add_read_from(Side by, const Opening& opening, std::uint32_t length);
  void add_immediate(Side by);
  void add_fetch_add(Side by);
  void add_cmp_swap(Side by);
  void add_opened(Side by);
  Stag open(Side owner, Opener opener, const Opening& opening, std::uint32_t length, bool zero);
  void close(Side by, Opener opener, const Opening& opening, bool read);
  void close_at_home(Side owner, Opener opener, const Opening& opening);

  SimEnd& end(Side side) { return side == Side::kClient ? pair_.client : pair_.server; }
  [[nodiscard]] const QpCapacity& capacity(Side side) const;
  [[nodiscard]] std::uint16_t ord(Side side) const;
  std::uint32_t draw_length();
  void fill(MutableBytes octets);
  Region& region(Side owner, std::size_t size, Access access);
  static void report_last_answer(Part& part);
  void hold_constant(const Region& region);
  Opening open_plain(Side owner, std::uint32_t length, Access access);

  Operation& add(Side by, Opcode opcode);
  void gather(Operation& operation, Side by, std::uint32_t length);
  void take_receive(Operation& operation, Side by, bool for_content);
  void sink(Operation& operation, Side by, std::size_t length);
  void atomic(Operation& operation, Side by, const Place& word, std::uint64_t original);
  std::vector<Sge> split(Region& region, std::size_t at, std::size_t length, std::uint32_t most);

  Random& random_;
  const Setting& setting_;
  SimPair& pair_;
  Program program_;
};

}  // namespace iwarp::verbs::simtest::schedules
