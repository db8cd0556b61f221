#include <sys/socket.h>
#include <unistd.h>

#include <iostream>
#include <map>

#include "server.hpp"
#include "sockets.hpp"

namespace iwarp::bench::channel {
namespace {

class TcpService;

// A client: what one read(2) has brought is answered by one write(2).
class TcpClient final : public Readable {
 public:
  TcpClient(TcpService& service, process::Descriptor socket, const Task& task)
      : service_(service),
        socket_(std::move(socket)),
        size_(task.size),
        // More than may be unanswered, so that a read that fills it is none of this program's.
        buffer_((std::size_t{task.outstanding} + 1) * task.size) {}

  void on_readable() override;
  [[nodiscard]] int descriptor() const { return socket_.get(); }

 private:
  TcpService& service_;
  process::Descriptor socket_;
  const std::size_t size_;
  std::vector<char> buffer_;
  std::size_t have_ = 0;  // of a request of which the rest is to come
};

class TcpService final : public Service, public Readable {
 public:
  TcpService(Events& events, const std::string& address, const Task& task)
      : events_(events), task_(task), at_(endpoint(address, 0)), listener_(listen_at(at_)) {
    events_.watch(listener_.get(), *this);
  }

  [[nodiscard]] std::uint16_t port() const override { return ntohs(at_.sin_port); }
  [[nodiscard]] std::uint64_t exchanges() const override { return exchanges_; }

  void on_readable() override {
    process::Descriptor accepted(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!accepted) return;
    without_delay(accepted.get());
    const int descriptor = accepted.get();
    auto client = std::make_unique<TcpClient>(*this, std::move(accepted), task_);
    events_.watch(descriptor, *client);
    clients_[descriptor] = std::move(client);
  }
  void count(std::size_t answers) { exchanges_ += answers; }
  void let_go(const TcpClient& client) {
    const auto found = clients_.find(client.descriptor());
    events_.forget(client.descriptor());
    events_.bury(std::move(found->second));
    clients_.erase(found);
  }

 private:
  Events& events_;
  const Task task_;
  sockaddr_in at_;
  process::Descriptor listener_;
  std::map<int, std::unique_ptr<TcpClient>> clients_;  // by descriptor
  std::uint64_t exchanges_ = 0;
};

// The client takes its answers before it asks for more: a socket that has no room for them is an
// error.
void TcpClient::on_readable() {
  const ssize_t got = ::read(socket_.get(), buffer_.data() + have_, buffer_.size() - have_);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) return service_.let_go(*this);
  have_ += static_cast<std::size_t>(got);
  const std::size_t requests = have_ / size_;
  if (requests == 0) return;
  if (const ssize_t sent = ::write(socket_.get(), buffer_.data(), requests * size_);
      sent != static_cast<ssize_t>(requests * size_)) {
    if (sent >= 0 || errno == EAGAIN) std::cerr << "channel_bench: a client takes no answers\n";
    return service_.let_go(*this);
  }
  service_.count(requests);
  have_ -= requests * size_;
  std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(requests * size_), have_,
              buffer_.begin());
}

}  // namespace

std::unique_ptr<Service> make_tcp_service(Events& events, const std::string& address,
                                          const Task& task) {
  return std::make_unique<TcpService>(events, address, task);
}

}  // namespace iwarp::bench::channel
