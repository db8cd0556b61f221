#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <string>

#include "end.hpp"

namespace iwarp::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Octets of this process in memory.
double memory_in_use() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return 1024.0 * std::stod(line.substr(8));
  }
  return 0;
}

struct Pair {
  rdma_cm_id* id = nullptr;
  Landing to;
  std::uint32_t room = 0;  // messages that may be posted
};

rdma_cm_id* start_connection(std::uint16_t port) {
  rdma_addrinfo hints{};
  hints.ai_port_space = RDMA_PS_TCP;
  rdma_addrinfo* at = nullptr;
  char host[] = "127.0.0.1";
  std::string service = std::to_string(port);
  require(rdma_getaddrinfo(host, service.data(), &hints, &at) == 0, "rdma_getaddrinfo");
  rdma_cm_id* id = nullptr;
  require(rdma_create_ep(&id, at, nullptr, nullptr) == 0, "rdma_create_ep");
  rdma_freeaddrinfo(at);
  return id;
}

Pair connect_one(End& end, std::uint16_t port) {
  Pair pair;
  pair.id = start_connection(port);
  end.make_pair(pair.id);
  rdma_conn_param parameters{};
  parameters.responder_resources = parameters.initiator_depth = 16;
  require(rdma_connect(pair.id, &parameters) == 0, "rdma_connect");
  require(pair.id->event->param.conn.private_data_len >= sizeof pair.to, "the server's memory");
  std::memcpy(&pair.to, pair.id->event->param.conn.private_data, sizeof pair.to);
  pair.room = end.depth_of_pair();
  return pair;
}

ibv_wr_opcode opcode_of(Op op) {
  switch (op) {
    case Op::kRead: return IBV_WR_RDMA_READ;
    case Op::kSend: return IBV_WR_SEND;
    case Op::kWrite: break;
  }
  return IBV_WR_RDMA_WRITE;
}

// Messages on all queue pairs in turn, as many under way as may be.
class Traffic {
 public:
  Traffic(End& end, std::vector<Pair>& pairs) : end_(end), pairs_(pairs) {
    for (Pair& pair : pairs_) by_queue_pair_.emplace_back(pair.id->qp, &pair);
    std::ranges::sort(by_queue_pair_);
  }

  double messages_per_second() {
    for (Pair& pair : pairs_) fill(pair);
    const auto start = Clock::now();
    double passed = 0;
    for (std::uint64_t looks = 0; passed < end_.options().seconds; ++looks) {
      for (const ibv_wc& done : end_.poll()) on_completion(done);
      if (end_.options().events || looks % 64 == 0) passed = seconds_since(start);
    }
    return static_cast<double>(done_) / passed;
  }

 private:
  [[nodiscard]] bool sends() const { return end_.options().op == Op::kSend; }
  void fill(Pair& pair) {
    for (; pair.room != 0; --pair.room) {
      end_.post(pair.id->qp, opcode_of(end_.options().op), end_.options().size, pair.to);
    }
  }
  // A Send has arrived when the server says so, everything else when it is done.
  void on_completion(const ibv_wc& done) {
    require(done.status == IBV_WC_SUCCESS, ibv_wc_status_str(done.status));
    auto* const queue_pair = reinterpret_cast<ibv_qp*>(done.wr_id);
    Pair& pair = *std::ranges::lower_bound(by_queue_pair_, queue_pair, {}, [](const auto& entry) {
                    return entry.first;
                  })->second;
    std::uint32_t arrived = 1;
    if (done.opcode == IBV_WC_RECV) {
      end_.post_receives(queue_pair, 1);
      arrived = (end_.depth_of_pair() + 1) / 2;
    } else if (sends()) {
      return;
    }
    done_ += arrived;
    pair.room += arrived;
    fill(pair);
  }

  End& end_;
  std::vector<Pair>& pairs_;
  std::vector<std::pair<ibv_qp*, Pair*>> by_queue_pair_;
  std::uint64_t done_ = 0;
};

}  // namespace

Result run_client(End& end, std::uint16_t port) {
  const Options& options = end.options();
  std::vector<Pair> pairs;
  pairs.reserve(options.pairs);
  pairs.push_back(connect_one(end, port));  // and what all of them share
  Result result;
  const double before = memory_in_use();
  const auto start = Clock::now();
  while (pairs.size() < options.pairs) pairs.push_back(connect_one(end, port));
  const double more = options.pairs - 1.0;
  if (more > 0) {
    result.connections_per_second = more / seconds_since(start);
    result.octets_per_pair = (memory_in_use() - before) / more;
  }
  if (options.seconds > 0) result.messages_per_second = Traffic(end, pairs).messages_per_second();
  return result;
}

}  // namespace iwarp::bench
