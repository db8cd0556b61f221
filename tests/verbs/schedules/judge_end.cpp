#include <algorithm>

#include "verbs/schedules/judge.hpp"

namespace iwarp::verbs::simtest::schedules {
namespace {

std::string text_of(const TerminateInfo& terminate) {
  return std::to_string(terminate.layer) + '/' + std::to_string(terminate.type) + '/' +
         std::to_string(terminate.code);
}

bool same(const TerminateInfo& a, const TerminateInfo& b) {
  return a.layer == b.layer && a.type == b.type && a.code == b.code && a.header == b.header;
}

}  // namespace

// A queue pair that is over says so once, and owes nothing.
void Judge::check_ends(Side side) {
  if (record_.of(side).destroyed) return;
  SimEnd& end = record_.end(side);
  if (end.qp->state() != QpState::kError) violated(side, "is not over");
  if (!end.qp->drained()) violated(side, "is over and not drained");
  const std::size_t ends = end.count(ConnectionEvent::Kind::kDisconnected);
  if (ends != 1) violated(side, "reported its end " + std::to_string(ends) + " times");
  if (end.count(ConnectionEvent::Kind::kEstablished) > 1) violated(side, "established twice");
  if (ends == 1 && end.events.back().kind != ConnectionEvent::Kind::kDisconnected) {
    violated(side, "reported something after its end");
  }
  if (end.host->serving() != 0) violated(side, "its socket is served though it is over");
}

// The end of a queue pair that is gone has nobody to tell but the log.
bool Judge::has_promised(Side side) const {
  const SimEnd& own = record_.end(side);
  const SimEnd& peer = record_.end(other(side));
  const Progress& peers = record_.of(other(side));
  if (peers.destroyed || peers.dropped || peer.ended_badly()) return false;
  return record_.of(side).destroyed ? own.host->failed_closings.empty() : !own.ended_badly();
}

// Where nothing goes wrong both ends part in peace; where one only leaves early, too.
void Judge::check_peace() {
  const Setting& setting = record_.setting;
  const bool leaves = setting.trouble == Trouble::kDisconnect || setting.patient();
  if (!setting.clean() && !leaves) return;
  for (const Side side : kSides) {
    SimEnd& end = record_.end(side);
    if (!end.host->failed_closings.empty()) violated(side, end.host->failed_closings.front());
    if (!end.qp) continue;
    if (end.qp->terminate_sent()) {
      violated(side, "sent Terminate " + text_of(*end.qp->terminate_sent()) +
                         " though nothing went wrong");
    }
    if (!end.events.empty() && end.end_reason().code) {
      violated(side, "ended with \"" + end.end_reason().message + "\" though nothing went wrong");
    }
  }
}

// What this side said last is what the other heard.
void Judge::check_terminate(Side side) {
  if (record_.of(side).destroyed || record_.of(other(side)).destroyed) return;
  if (record_.setting.deceptive()) return;
  const auto sent = record_.end(side).qp->terminate_sent();
  const auto heard = record_.end(other(side)).qp->terminate_received();
  if (heard && !sent) return violated(other(side), "heard a Terminate that nobody sent");
  if (heard && !same(*heard, *sent)) {
    return violated(other(side),
                    "heard Terminate " + text_of(*heard) + " instead of " + text_of(*sent));
  }
  const bool listens = !record_.end(other(side)).qp->terminate_sent();
  if (sent && !heard && listens && record_.setting.orderly()) {
    violated(side, "its Terminate " + text_of(*sent) + " never arrived");
  }
}

// Memory is the program's again, and the host has nothing of a connection that is over.
void Judge::check_leftovers(Side side) {
  SimHost& host = *record_.end(side).host;
  for (const Region* region : record_.program.regions[static_cast<std::size_t>(side)]) {
    if (region->mr == nullptr) continue;
    if (host.registry->table().idle(region->mr->lkey())) continue;
    return violated(side, "memory is still in use after everything has ended");
  }
  if (host.tails != 0) violated(side, "octets of half an FPDU are still accounted for");
  if (host.seeing_off() != 0) violated(side, "a stream is still being seen off");
}

}  // namespace iwarp::verbs::simtest::schedules
