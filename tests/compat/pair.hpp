#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

/// Programs of librdmacm and libibverbs with both ends in one process.
namespace iwarp::compat_test {

inline void must(int result, const char* what) {
  if (result == 0) return;
  throw std::runtime_error(std::string(what) + ": " + std::strerror(result > 0 ? result : errno));
}

template <typename T>
T* must(T* made, const char* what) {
  if (made == nullptr) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
  return made;
}

/// Where both ends are: IWARP_LAWFUL_ADDRESS, an IPv4 address of this host, or 127.0.0.1.
inline const char* here() {
  const char* const chosen = std::getenv("IWARP_LAWFUL_ADDRESS");
  return chosen == nullptr ? "127.0.0.1" : chosen;
}

inline sockaddr_in loopback(std::uint16_t port = 0) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (::inet_pton(AF_INET, here(), &address.sin_addr) != 1) throw std::runtime_error(here());
  address.sin_port = htons(port);
  return address;
}

inline sockaddr* plain(sockaddr_in& address) { return reinterpret_cast<sockaddr*>(&address); }

/// What an id gets before it has addresses.
using SetUp = std::function<void(rdma_cm_id*)>;

/// An id whose calls wait, and that listens at loopback; `at` becomes its address.
inline rdma_cm_id* listen(sockaddr_in& at, const SetUp& set_up = {}) {
  rdma_cm_id* listener = nullptr;
  at = loopback();
  must(rdma_create_id(nullptr, &listener, nullptr, RDMA_PS_TCP), "rdma_create_id");
  if (set_up) set_up(listener);
  must(rdma_bind_addr(listener, plain(at)), "rdma_bind_addr");
  must(rdma_listen(listener, 4), "rdma_listen");
  at.sin_port = rdma_get_src_port(listener);
  return listener;
}

/// An id whose calls wait, and that knows the way to a listener.
inline rdma_cm_id* resolve(sockaddr_in to, const SetUp& set_up = {}) {
  rdma_cm_id* id = nullptr;
  must(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP), "rdma_create_id");
  if (set_up) set_up(id);
  must(rdma_resolve_addr(id, nullptr, plain(to), 2000), "rdma_resolve_addr");
  must(rdma_resolve_route(id, 2000), "rdma_resolve_route");
  return id;
}

inline ibv_qp_init_attr small_qp() {
  ibv_qp_init_attr attributes{};
  attributes.cap = {16, 16, 2, 2, 32};
  attributes.qp_type = IBV_QPT_RC;
  attributes.sq_sig_all = 1;
  return attributes;
}

struct End;
/// Says what an end's queue pair is made of, once the end has a device.
using Prepare = std::function<void(End&, ibv_qp_init_attr&)>;

/// A queue pair of an id whose calls wait, and memory that its device knows.
struct End {
  rdma_cm_id* id = nullptr;
  std::array<char, 256> memory{};
  ibv_mr* mr = nullptr;

  End() = default;
  End(const End&) = delete;
  End& operator=(const End&) = delete;
  ~End() {
    if (mr != nullptr) ibv_dereg_mr(mr);
    if (id != nullptr) rdma_destroy_ep(id);
  }
  void make_qp(const Prepare& prepare = {}) {
    ibv_qp_init_attr attributes = small_qp();
    if (prepare) prepare(*this, attributes);
    must(rdma_create_qp(id, nullptr, &attributes), "rdma_create_qp");
    constexpr int kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
    mr = must(ibv_reg_mr(id->pd, memory.data(), memory.size(), kAll), "ibv_reg_mr");
  }
  ibv_sge sge(std::uint32_t length = 16) {
    return {reinterpret_cast<std::uintptr_t>(memory.data()), length, mr->lkey};
  }
  int post_receive(std::uint64_t wr_id) {
    ibv_sge to = sge();
    ibv_recv_wr request{};
    request.wr_id = wr_id;
    request.sg_list = &to;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    return ibv_post_recv(id->qp, &request, &bad);
  }
  int post_send(std::uint64_t wr_id, ibv_sge from, ibv_send_wr** bad = nullptr) {
    ibv_send_wr request{};
    request.wr_id = wr_id;
    request.sg_list = &from;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    ibv_send_wr* ignored = nullptr;
    const int result = ibv_post_send(id->qp, &request, &ignored);
    if (bad != nullptr) *bad = ignored == &request ? ignored : nullptr;
    return result;
  }
};

/// The next completion; throws if none comes.
inline ibv_wc completion_of(ibv_cq* cq) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  ibv_wc wc{};
  int got = 0;
  while ((got = ibv_poll_cq(cq, 1, &wc)) == 0) {
    if (std::chrono::steady_clock::now() > until) throw std::runtime_error("no completion came");
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  if (got < 0) throw std::runtime_error("ibv_poll_cq fails");
  return wc;
}

/// Two connected ends.
struct Pair {
  End client, server;
  rdma_cm_id* listener = nullptr;

  /// `set_up` sees the listener's id and the client's before they have addresses.
  explicit Pair(const Prepare& prepare = {},
                const std::function<void(rdma_cm_id*, bool listens)>& set_up = {}) {
    sockaddr_in at{};
    listener = listen(at, [&](rdma_cm_id* id) {
      if (set_up) set_up(id, true);
    });
    std::thread acceptor([&] {
      must(rdma_get_request(listener, &server.id), "rdma_get_request");
      server.make_qp(prepare);
      must(server.post_receive(100), "ibv_post_recv");
      must(rdma_accept(server.id, nullptr), "rdma_accept");
    });
    client.id = resolve(at, [&](rdma_cm_id* id) {
      if (set_up) set_up(id, false);
    });
    client.make_qp(prepare);
    must(rdma_connect(client.id, nullptr), "rdma_connect");
    acceptor.join();
  }
  ~Pair() { rdma_destroy_id(listener); }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  /// A message crosses.
  void expect_alive() {
    ASSERT_EQ(client.post_send(7, client.sge()), 0);
    EXPECT_EQ(completion_of(client.id->send_cq).status, IBV_WC_SUCCESS);
    EXPECT_EQ(completion_of(server.id->recv_cq).status, IBV_WC_SUCCESS);
    ASSERT_EQ(server.post_receive(100), 0);
  }
};

/// Connects to a peer that does not read, and sends messages until TCP takes no more; returns how
/// many have completed. Gives nothing back.
inline std::size_t send_to(std::uint16_t port, std::size_t count, std::uint32_t size) {
  rdma_cm_id* const id = resolve(loopback(port));
  ibv_qp_init_attr attributes = small_qp();
  attributes.cap.max_send_wr = static_cast<std::uint32_t>(count);
  must(rdma_create_qp(id, nullptr, &attributes), "rdma_create_qp");
  auto* const memory = new std::vector<char>(size, 'x');
  ibv_mr* const mr = must(rdma_reg_msgs(id, memory->data(), size), "rdma_reg_msgs");
  must(rdma_connect(id, nullptr), "rdma_connect");
  for (std::size_t i = 0; i < count; ++i) {
    must(rdma_post_send(id, nullptr, memory->data(), size, mr, IBV_SEND_SIGNALED),
         "rdma_post_send");
  }
  std::size_t completed = 0;
  for (int idle = 0; completed < count && idle < 50;) {
    ibv_wc done{};
    const int polled = ibv_poll_cq(id->send_cq, 1, &done);
    if (polled < 0 || (polled == 1 && done.status != IBV_WC_SUCCESS)) break;
    completed += static_cast<std::size_t>(polled);
    if (polled != 0) continue;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++idle;
  }
  return completed;
}

}  // namespace iwarp::compat_test
