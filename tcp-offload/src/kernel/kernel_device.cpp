#include "iwarp/tcp_offload/kernel_device.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "kernel/kernel_acceptor.hpp"
#include "kernel/kernel_connect.hpp"
#include "kernel/kernel_connection.hpp"
#include "kernel/kernel_timer.hpp"
#include "kernel/reactor_room.hpp"
#include "kernel/socket.hpp"

namespace iwarp::tcp_offload {
namespace {

// Some 180,000 octets of memory, as long as the device is there.
constexpr std::size_t kMostRoom = 1024;

}  // namespace

std::error_code try_interface(const std::string& interface) {
  KernelOptions options;
  options.interface = interface;
  const auto socket = kernel::open_socket(boost::asio::ip::tcp::v4(), options);
  return socket ? std::error_code() : socket.error();
}

KernelDevice::KernelDevice(boost::asio::io_context& context, const KernelOptions& options)
    : context_(context), options_(options) {}

KernelDevice::~KernelDevice() = default;

Result<std::unique_ptr<Acceptor>, std::error_code> KernelDevice::listen(const Endpoint& at,
                                                                        const ListenTerms& terms) {
  auto socket = kernel::open_listener(at, terms, options_);
  if (!socket) return failure(socket.error());
  const std::size_t room = std::min(terms.expected, kMostRoom);
  if (room > room_.load()) {
    kernel::make_reactor_room(context_, room);
    room_.store(room);
  }
  return kernel::make_acceptor(context_, at, std::move(*socket), options_.accept_pause);
}

std::unique_ptr<ConnectAttempt> KernelDevice::async_connect_from(const LocalEnd& from,
                                                                 const Endpoint& to,
                                                                 ConnectionHandler handler) {
  return kernel::start_connect(context_, options_, from, to, std::move(handler));
}

Result<std::unique_ptr<Connection>, std::error_code> KernelDevice::adopt(int socket) {
  auto taken = kernel::Socket::of_program(socket);
  auto connection = kernel::make_connection(context_, taken);
  taken.give_back();  // on failure it stays the caller's
  return connection;
}

std::unique_ptr<Timer> KernelDevice::make_timer() {
  return std::make_unique<kernel::KernelTimer>(context_);
}

void KernelDevice::post(Handler<> task) {
  boost::asio::post(context_, [task = std::move(task)]() mutable { task(); });
}

}  // namespace iwarp::tcp_offload
