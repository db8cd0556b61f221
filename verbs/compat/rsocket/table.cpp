#include "table.hpp"

#include <pthread.h>

#include <cstdlib>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace iwarp::rsocket {

struct Table::Shared {
  std::shared_mutex mutex;
  std::vector<Socket::Handle> sockets;
};

namespace {

/// How long the end of the process may take, all sockets together.
constexpr std::chrono::seconds kExitWait{2};

}  // namespace

Table& Table::instance() {
  // Never destroyed: other threads may still use it when the process exits.
  static auto* const table = new Table;
  return *table;
}

Table::Table() : shared_(new Shared) {
  // The first rsocket has made the connection manager start before this is called, so this runs
  // before its own end.
  std::atexit([] { instance().finish_all(); });
  // Forked while another thread holds the mutex, a child could never look anything up.
  pthread_atfork([] { instance().shared_->mutex.lock(); },
                 [] { instance().shared_->mutex.unlock(); },
                 [] { instance().shared_ = new Shared; });
}

int Table::add(Socket::Handle socket) {
  const std::unique_lock lock(shared_->mutex);
  const int number = socket->number();
  const auto index = static_cast<std::size_t>(number);
  if (index >= shared_->sockets.size()) shared_->sockets.resize(index + 1);
  shared_->sockets[index] = std::move(socket);
  return number;
}

Socket::Handle Table::find(int number) {
  const std::shared_lock lock(shared_->mutex);
  const auto index = static_cast<std::size_t>(number);
  return number >= 0 && index < shared_->sockets.size() ? shared_->sockets[index] : nullptr;
}

Socket::Handle Table::remove(int number) {
  const std::unique_lock lock(shared_->mutex);
  const auto index = static_cast<std::size_t>(number);
  if (number < 0 || index >= shared_->sockets.size()) return nullptr;
  return std::exchange(shared_->sockets[index], nullptr);
}

void Table::finish_all() {
  std::vector<Socket::Handle> all;
  {
    const std::shared_lock lock(shared_->mutex);
    all = shared_->sockets;
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
