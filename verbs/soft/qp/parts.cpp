#include "soft/qp/parts.hpp"

#include <utility>

namespace iwarp::verbs::soft {

QpParts::QpParts(SoftQpInit with)
    : init(std::move(with)),
      stream(init.services->memory->begin_stream()),
      connectionless(init.connectionless),
      life(init.connectionless ? connection::Program::kUnaware : connection::Program::kStays,
           init.patience, init.services->time, wanted),
      sends(init),
      receives(init) {}

void QpParts::discard_completions() {
  init.send_cq->discard(init.number);
  init.recv_cq->discard(init.number);
}

EndOfConnection QpParts::end_of_connection() const {
  EndOfConnection end{init.number, {}, {}, life.diagnosis()};
  if (const Link* connected = link.load()) {
    end.local = connected->stream.local();
    end.remote = connected->stream.remote();
  }
  return end;
}

}  // namespace iwarp::verbs::soft
