#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "iwarp/verbs/provider.hpp"

namespace iwarp::compat {

/// The work requests between ibv_wr_start() and ibv_wr_complete(). A thread that has started keeps
/// others out until it completes or aborts.
class QpBatch {
 public:
  /// Puts the functions of the interface into `shown`.
  static void offer(ibv_qp_ex& shown);

  void start();
  verbs::SendWr& add(ibv_qp_ex& qp, verbs::Opcode opcode);
  /// Of the request that was added last; none is a mistake of the program's, which complete()
  /// tells.
  void set_sges(const ibv_sge* list, std::size_t count);
  void set_inline(const ibv_data_buf* list, std::size_t count);
  void bind(const verbs::BindWr& bind);
  void fail(int error);
  int complete(verbs::provider::Qp& qp);
  void abort();

 private:
  struct Request {
    verbs::SendWr wr;
    verbs::BindWr bind;
    std::size_t first_sge = 0, sges = 0, inline_at = 0;
  };
  void clear();

  std::mutex mutex_;
  std::vector<Request> requests_;
  std::vector<verbs::Sge> sges_;
  std::vector<std::byte> inline_;
  int error_ = 0;
};

}  // namespace iwarp::compat
