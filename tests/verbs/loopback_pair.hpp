#pragma once

#include <gtest/gtest.h>

#include <thread>

#include "iwarp/verbs/verbs.hpp"

namespace iwarp::verbs::test {

using namespace std::chrono_literals;

template <typename T>
T must(Outcome<T> outcome) {
  if (!outcome) throw std::runtime_error(outcome.error().message);
  return std::move(outcome).value();
}

/// One side of a connection with everything it needs.
struct Side {
  explicit Side(std::uint32_t cq_depth = 16384)
      : device(must(Device::open())),
        pd(must(device.alloc_pd())),
        cq(must(device.create_cq(cq_depth))) {}

  QueuePair make_qp(QpOptions options = {}) { return must(pd.create_qp(cq, std::move(options))); }

  Device device;
  ProtectionDomain pd;
  CompletionQueue cq;
};

/// Two queue pairs connected over loopback TCP within this process.
struct LoopbackPair {
  explicit LoopbackPair(const ConnectOptions& connect = {}, const ConnectOptions& accept = {},
                        const QpOptions& options = {})
      : client_qp(client.make_qp(options)), server_qp(server.make_qp(options)) {
    auto listener = must(server.device.listen(Endpoint(Address::loopback(), 0)));
    std::thread acceptor([&] {
      auto request = listener.next(10s);
      if (!request) return;
      auto accepted = request->accept(server_qp, accept);
      if (accepted) {
        server_info = *accepted;
      } else {
        server_error = accepted.error().message;
      }
    });
    auto connected = client_qp.connect(listener.endpoint(), connect);
    acceptor.join();
    if (!connected) throw std::runtime_error(connected.error().message);
    if (!server_error.empty()) throw std::runtime_error(server_error);
    client_info = *connected;
  }

  Side client, server;
  QueuePair client_qp, server_qp;
  ConnectionInfo client_info, server_info;
  std::string server_error;
};

}  // namespace iwarp::verbs::test
