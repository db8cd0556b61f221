#pragma once

#include <cstdint>
#include <vector>

#include "compat/pair.hpp"

namespace iwarp::compat_test {

/// The client writes `source` to the server's `sink`, which is as long. 0 if it has arrived, else
/// 3: the exit status of a program that does nothing else.
inline int write_across(Pair& pair, std::vector<char>& source, std::vector<char>& sink) {
  const auto size = static_cast<std::uint32_t>(source.size());
  ibv_mr* const from = must(ibv_reg_mr(pair.client.id->pd, source.data(), size, 0), "ibv_reg_mr");
  ibv_mr* const to = must(ibv_reg_mr(pair.server.id->pd, sink.data(), size,
                                     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
                          "ibv_reg_mr");
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(source.data()), size, from->lkey};
  ibv_send_wr request{};
  request.sg_list = &piece;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma = {reinterpret_cast<std::uintptr_t>(sink.data()), to->rkey};
  ibv_send_wr* bad = nullptr;
  must(ibv_post_send(pair.client.id->qp, &request, &bad), "ibv_post_send");
  const ibv_wc done = completion_of(pair.client.id->send_cq);
  pair.expect_alive();  // by a Send behind the Write
  ibv_dereg_mr(from);
  ibv_dereg_mr(to);
  return done.status == IBV_WC_SUCCESS && source == sink ? 0 : 3;
}

}  // namespace iwarp::compat_test
