#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "iwarp/rdmap/receiver.hpp"
#include "iwarp/rdmap/transmitter.hpp"
#include "support/guarded_memory.hpp"
#include "support/segments.hpp"

namespace iwarp::test {

/// Registered memory with canaries around it.
struct Region {
  GuardedMemory memory;
  TaggedOffset base;
  Stag stag;

  /// A piece of it for a scatter or gather list.
  [[nodiscard]] ddp::Sge sge(std::uint64_t at, std::uint32_t length) const {
    return {base.value() + at, length, stag};
  }
  [[nodiscard]] TaggedOffset to(std::uint64_t at) const { return TaggedOffset{base.value() + at}; }
  [[nodiscard]] ConstBytes part(std::size_t at, std::size_t length) const {
    return memory.bytes().subspan(at, length);
  }
};

/// Posted receives, oldest first. Their scatter lists stay in place for good.
class PostedReceives : public rdmap::ReceiveSource {
 public:
  void post(std::uint64_t cookie, std::vector<ddp::Sge> sges) {
    posted_.push_back({cookie, std::move(sges)});
  }
  std::optional<rdmap::ReceiveBuffer> take() override {
    if (taken_ == posted_.size()) return std::nullopt;
    if (taken_ >= fails_from_) throw std::bad_alloc();
    const Posted& next = posted_[taken_++];
    return rdmap::ReceiveBuffer{next.cookie, next.sges, ddp::total_length(next.sges)};
  }
  /// There is no memory to take any behind the first `count`.
  void fail_from(std::size_t count) { fails_from_ = count; }
  [[nodiscard]] std::size_t posted() const { return posted_.size(); }
  [[nodiscard]] std::size_t taken() const { return taken_; }
  [[nodiscard]] const std::vector<ddp::Sge>& sges(std::size_t n) const { return posted_[n].sges; }

 private:
  struct Posted {
    std::uint64_t cookie;
    std::vector<ddp::Sge> sges;
  };
  std::deque<Posted> posted_;
  std::size_t taken_ = 0;
  std::size_t fails_from_ = SIZE_MAX;
};

inline rdmap::Request request_of(rdmap::Operation operation, std::uint64_t cookie = 0) {
  rdmap::Request request;
  request.operation = operation;
  request.cookie = cookie;
  return request;
}

/// A Write to, or a Read from, the peer's memory.
inline rdmap::Request request_of(rdmap::Operation operation, Stag remote, TaggedOffset to) {
  rdmap::Request request = request_of(operation);
  request.remote_stag = remote;
  request.remote_to = to;
  return request;
}

struct EndpointOptions {
  std::uint64_t secret = 1;
  std::uint32_t ird = 4, ord = 4;
  std::uint32_t depth = 64, max_sges = 8, max_inline = 64;
  rdmap::Rtr rtr = rdmap::Rtr::kNone;
  rdmap::FirstMessage first = rdmap::FirstMessage::kOrdinary;
  rdmap::Extensions extensions = rdmap::Extensions::kRfc7306;
};

inline constexpr ddp::ProtectionDomainId kPd{7};
inline constexpr ddp::ProtectionDomainId kOtherPd{8};

/// Both halves of one end of an RDMAP Stream with memory of its own: what a QP is made of, without
/// locks, sockets and completions.
class Endpoint {
 public:
  explicit Endpoint(const EndpointOptions& options = {});

  /// Registers `size` octets from Tagged Offset `base` on.
  Region& enable(std::size_t size, ddp::Rights rights, ddp::ProtectionDomainId pd = kPd,
                 std::uint64_t base = 0x7F0000000000);

  /// Submits an operation whose payload lies in `sges`; fills in their number and length.
  void post(rdmap::Request request, const std::vector<ddp::Sge>& sges = {});
  /// Submits an operation that carries its payload itself.
  void post_inline(rdmap::Request request, ConstBytes payload);

  /// The segment as it goes to MPA; nothing if its payload must not be read.
  std::optional<Ulpdu> assemble(const rdmap::OutgoingSegment& segment);
  /// Plans and sends at most `most` segments of at most `mulpdu` octets.
  std::vector<Ulpdu> transmit(std::size_t mulpdu, std::size_t most = SIZE_MAX);
  /// Gives back the places of responses and requests that are done; counts the latter.
  void retire();
  /// Takes a segment in; a fault becomes a Terminate to be sent.
  Result<rdmap::Event, rdmap::Fault> receive(ConstBytes ulpdu);

  [[nodiscard]] bool canaries_intact() const;
  [[nodiscard]] std::uint32_t retired() const { return retired_; }
  [[nodiscard]] std::deque<Region>& regions() { return regions_; }

  ddp::StagTable stags;
  PostedReceives receives;
  rdmap::OutstandingRequests reads;
  rdmap::ResponseQueue responses;
  rdmap::SendQueue requests;
  rdmap::Receiver receiver;
  rdmap::Transmitter transmitter;

 private:
  bool gather(const rdmap::OutgoingSegment& segment, Ulpdu& ulpdu);
  bool gather_list(std::span<const ddp::Sge> list, std::uint32_t offset, std::uint32_t length,
                   Ulpdu& ulpdu);
  bool append(Stag stag, TaggedOffset to, std::uint32_t length, ddp::Rights rights, Ulpdu& ulpdu);

  std::deque<Region> regions_;
  std::uint32_t retired_ = 0;
};

}  // namespace iwarp::test
