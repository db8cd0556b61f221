#include <unistd.h>

#include <stdexcept>
#include <vector>

#include "events.hpp"
#include "load.hpp"
#include "sockets.hpp"

namespace iwarp::bench::channel {
namespace {

// One client: what one read(2) answers is asked anew by one write(2).
class TcpAsker final : public Readable {
 public:
  TcpAsker(process::Descriptor socket, const Task& task)
      : socket_(std::move(socket)),
        size_(task.size),
        requests_(std::size_t{task.outstanding} * task.size),
        buffer_(requests_.size() + 1) {
    do_not_block(socket_.get());
  }

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  void ask(std::size_t requests) {
    const auto octets = static_cast<ssize_t>(requests * size_);
    if (checked(::write(socket_.get(), requests_.data(), requests * size_), "write") != octets) {
      throw std::runtime_error("a socket has no room for requests");
    }
  }
  void ask_all() { ask(requests_.size() / size_); }
  void on_readable() override {
    const ssize_t got = ::read(socket_.get(), buffer_.data(), buffer_.size());
    if (got < 0 && errno == EAGAIN) return;
    if (checked(got, "read") == 0) throw std::runtime_error("the server has gone");
    have_ += static_cast<std::size_t>(got);
    const std::size_t answered = have_ / size_;
    have_ %= size_;
    if (answered != 0) ask(answered);
  }

 private:
  process::Descriptor socket_;
  const std::size_t size_;
  const std::vector<char> requests_;
  std::vector<char> buffer_;
  std::size_t have_ = 0;  // octets of an answer of which the rest is to come
};

class TcpLoad final : public Load {
 public:
  TcpLoad(const std::string& address, std::uint16_t port, const Task& task) {
    for (unsigned i = 0; i < task.clients; ++i) {
      askers_.push_back(std::make_unique<TcpAsker>(connect_to(endpoint(address, port)), task));
      events_.watch(askers_.back()->descriptor(), *askers_.back());
    }
  }
  void begin() override {
    for (const auto& one : askers_) one->ask_all();
  }
  void turn() override { events_.turn(0); }

 private:
  Events events_;
  std::vector<std::unique_ptr<TcpAsker>> askers_;
};

}  // namespace

std::unique_ptr<Load> make_tcp_load(const std::string& address, std::uint16_t port,
                                    const Task& task) {
  return std::make_unique<TcpLoad>(address, port, task);
}

}  // namespace iwarp::bench::channel
