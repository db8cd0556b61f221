#include "api/table.hpp"

#include <cstdlib>
#include <thread>

#include "iwarp/process/forks.hpp"

namespace iwarp::rsocket {

namespace {

/// How long the end of the process may take, all sockets together.
constexpr std::chrono::seconds kExitWait{2};

}  // namespace

Table& Table::instance() { return process::of_this_process<Table>(); }

Table::Table() {
  // The first rsocket has made the connection manager start before this is called, so this runs
  // before its own end.
  [[maybe_unused]] static const int at_exit = std::atexit([] { instance().finish_all(); });
}

int Table::add(Socket::Handle socket) {
  const std::unique_lock lock(mutex_);
  const int number = socket->number();
  const auto index = static_cast<std::size_t>(number);
  if (index >= sockets_.size()) sockets_.resize(index + 1);
  sockets_[index] = std::move(socket);
  return number;
}

Socket::Handle Table::find(int number) {
  const std::shared_lock lock(mutex_);
  const auto index = static_cast<std::size_t>(number);
  return number >= 0 && index < sockets_.size() ? sockets_[index] : nullptr;
}

Socket::Handle Table::remove(int number) {
  const std::unique_lock lock(mutex_);
  const auto index = static_cast<std::size_t>(number);
  if (number < 0 || index >= sockets_.size()) return nullptr;
  return std::exchange(sockets_[index], nullptr);
}

void Table::finish_all() {
  std::vector<Socket::Handle> all;
  {
    const std::shared_lock lock(mutex_);
    all = sockets_;
  }
  std::erase(all, nullptr);
  if (all.empty()) return;
  // In a thread of its own: this one's thread_local objects, the transport's too, are gone already.
  std::thread([&] {
    const auto deadline = Clock::now() + kExitWait;
    for (const Socket::Handle& each : all) each->finish_by(deadline);
  }).join();
}

}  // namespace iwarp::rsocket
