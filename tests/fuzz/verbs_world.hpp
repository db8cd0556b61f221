#pragma once

#include <array>
#include <vector>

#include "fuzz/peer_messages.hpp"
#include "verbs/raw_peer.hpp"

namespace iwarp::fuzz {

using verbs::simtest::Region;

/// A queue pair over a simulated network whose program and whose peer a fuzzer plays.
/// Files: verbs_world.cpp the world and its rules, verbs_calls.cpp what the program calls.
class VerbsWorld : public PeerMessages {
 public:
  explicit VerbsWorld(Input& input) : VerbsWorld(Setup(input)) {}

  // The peer.
  void send(ConstBytes ulpdu);
  void send_octets(ConstBytes octets) { pair_.peer.send_octets(octets); }
  void disturb(Input& input);  ///< FIN, reset, no more reading, other segments.

  // The program.
  void post_send(Input& input);
  void post_receive(Input& input);
  void change_memory(Input& input);  ///< Deregisters, or registers anew.
  void call(Input& input);           ///< Whatever else there is to call.

  /// Lets some virtual time pass.
  void pass_time(Input& input);
  void pass_some_time();
  /// Ends the connection, as the input wants it, and checks that everything is over.
  void finish(Input& input);

 protected:
  [[nodiscard]] std::optional<Due> due() const override;
  void answered() override { ++answered_; }
  [[nodiscard]] Stag some_stag(Input& input) override;
  [[nodiscard]] std::uint64_t some_offset(Input& input, Stag stag) override;

 private:
  struct Setup {
    explicit Setup(Input& input);
    verbs::simtest::PairOptions options;
    verbs::soft::Role role;
  };
  struct Posted {
    std::uint64_t id = 0;
    bool reported = true;  ///< Whether success has a completion.
  };
  enum RegionIndex : std::size_t {
    kExposed,
    kReadable,
    kBindable,
    kInbox,
    kSource,
    kForeign,
    kEndable,
    kZeroBased,
    kRegions
  };

  explicit VerbsWorld(const Setup& setup);
  std::shared_ptr<verbs::soft::SoftMw> make_window(verbs::WindowType type);
  std::shared_ptr<verbs::soft::SoftFastMr> make_fast_region();
  [[nodiscard]] std::uint64_t address(const Region& region, std::size_t at) const;
  verbs::Sge some_sge(Input& input, bool within);
  std::vector<verbs::Sge> some_sges(Input& input, verbs::Opcode opcode, bool in_line);
  verbs::BindWr some_bind(Input& input);
  verbs::RegisterWr some_registration(Input& input);
  void post(verbs::SendWr request, std::size_t times);
  void find_requests();
  void end_connection(std::uint8_t how);
  void check_memory();
  void check_completions();

  verbs::simtest::RawPair pair_;
  std::vector<Region*> regions_;
  std::vector<std::byte> fast_memory_;
  std::shared_ptr<verbs::soft::SoftMw> window1_, window2_;
  std::shared_ptr<verbs::soft::SoftFastMr> fast_;
  std::array<Stag, kRegions> keys_;  // as first registered, in force or not
  std::array<std::optional<std::vector<std::byte>>, kRegions> deregistered_;  // as they were then

  std::vector<Posted> sends_, receives_;
  std::uint64_t next_id_ = 1;
  const bool all_signaled_;
  std::size_t looked_at_ = 0;  // of the ULPDUs that came to the peer
  std::vector<Due> requests_;
  std::size_t answered_ = 0;
};

}  // namespace iwarp::fuzz
