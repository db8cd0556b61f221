#pragma once

#include <vector>

#include "fuzz/peer_messages.hpp"
#include "support/endpoint.hpp"

namespace iwarp::fuzz {

using test::Endpoint;
using test::Region;

/// An end of a stream with memory of all kinds, whose peer a fuzzer plays. Each ULPDU that comes is
/// judged by what it may change, and by whether anything may happen any more.
class ReceiverWorld : public PeerMessages {
 public:
  explicit ReceiverWorld(Input& input);

  /// Hands a ULPDU to the receiver and checks what it did.
  void deliver(ConstBytes ulpdu);
  /// Something that this end does: it posts, sends, or ends an STag.
  void act(Input& input);
  /// What has to hold at the end.
  void finish();

 protected:
  [[nodiscard]] std::optional<Due> due() const override;
  [[nodiscard]] Stag some_stag(Input& input) override;
  [[nodiscard]] std::uint64_t some_offset(Input& input, Stag stag) override;

 private:
  /// Where in the memory of a region something may change.
  struct Range {
    const Region* region = nullptr;
    std::uint64_t from = 0, to = 0;
  };
  using Memory = std::vector<std::byte>;  // of all regions, one behind the other

  [[nodiscard]] Memory snapshot();
  [[nodiscard]] std::vector<Range> may_change(ConstBytes ulpdu);
  void may_change_by_write(const ddp::TaggedSegment& segment, std::vector<Range>& ranges);
  void may_change_by_message(QueueNumber qn, std::vector<Range>& ranges);
  void add_list(std::span<const ddp::Sge> list, std::vector<Range>& ranges);
  void check_changes(const Memory& before, const std::vector<Range>& allowed);
  void check_event(const rdmap::Event& event, ConstBytes ulpdu);

  void post_receive(Input& input);
  void post_request(Input& input);
  void transmit(Input& input);

  Endpoint endpoint_;
  Region &exposed_, &readable_, &writable_, &atomic_, &inbox_, &sink_, &shut_, &foreign_, &endable_;
  Stag window_;
  std::uint32_t next_msn_ = 1;  // of the Sends
  bool ended_ = false;
  bool terminate_left_ = false;
};

}  // namespace iwarp::fuzz
