#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// A benchmark of the C interface of libibverbs and librdmacm: a server and a client on loopback.
namespace iwarp::bench {

enum class Op { kWrite, kRead, kSend };

struct Options {
  Op op = Op::kWrite;
  std::uint32_t size = 64;   ///< Octets of a message.
  std::uint32_t pairs = 1;   ///< Queue pairs of each end.
  std::uint32_t depth = 64;  ///< Messages under way, of all queue pairs together.
  bool events = false;       ///< Both ends sleep instead of polling.
  double seconds = 1;        ///< To measure.
};

/// Ends the program with a message if `ok` is false.
void require(bool ok, const char* what);

/// What the server tells a client about its memory.
struct Landing {
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
};

/// What both ends have: a completion queue and memory for all queue pairs, made at the first one.
/// Lives until the process ends, since nothing that it made is destroyed.
class End {
 public:
  explicit End(const Options& options) : options_(options) {}
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  /// Makes the queue pair of an identifier whose device is known.
  void make_pair(rdma_cm_id* id);
  /// Posts receives for messages of the benchmark's size; all land in the same place.
  void post_receives(ibv_qp* pair, std::uint32_t count);
  void post(ibv_qp* pair, ibv_wr_opcode opcode, std::uint32_t length, const Landing& to = {});
  /// Completions; sleeps before there is one, if the ends do. May return none.
  std::span<const ibv_wc> poll();

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] Landing landing() const {
    return {reinterpret_cast<std::uintptr_t>(memory_.get()), region_->rkey};
  }
  /// Messages that one queue pair has under way.
  [[nodiscard]] std::uint32_t depth_of_pair() const {
    return std::max(1U, options_.depth / options_.pairs);
  }

 private:
  void make_common(ibv_context* device);
  [[nodiscard]] std::uint32_t receives_of_pair() const { return 2 * depth_of_pair() + 4; }
  std::span<const ibv_wc> look();

  const Options options_;
  ibv_pd* domain_ = nullptr;
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* queue_ = nullptr;
  ibv_mr* region_ = nullptr;
  std::unique_ptr<std::byte[]> memory_;
  ibv_wc completions_[64] = {};
};

/// Serves until it is killed; writes its port, as two octets, to `port_to`.
[[noreturn]] void serve(const Options& options, int port_to);

/// What a client has measured.
struct Result {
  double messages_per_second = 0;
  double connections_per_second = 0;
  double octets_per_pair = 0;  ///< Of memory that the client has for a queue pair that is idle.
};

/// Connects the queue pairs that `end` is to have to the server and, unless its time is 0, moves
/// messages for that time. Some are still under way when it returns: `end`, where they land, is the
/// caller's.
Result run_client(End& end, std::uint16_t port);

}  // namespace iwarp::bench
