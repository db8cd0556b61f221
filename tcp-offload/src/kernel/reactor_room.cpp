#include "kernel/reactor_room.hpp"

#include <sys/mman.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <deque>
#include <exception>

#include "iwarp/process/descriptor.hpp"

namespace iwarp::tcp_offload::kernel {
namespace {

// A descriptor in Asio's hands, which is another object's.
class Watched {
 public:
  Watched(boost::asio::io_context& context, int descriptor) : in_asio_(context) {
    boost::system::error_code none;  // without a state there is less room
    in_asio_.assign(descriptor, none);
  }
  ~Watched() {
    if (in_asio_.is_open()) in_asio_.release();
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  boost::asio::posix::stream_descriptor in_asio_;
};

}  // namespace

// A file of memory is always ready, so that epoll refuses it and Asio watches it without: one
// descriptor serves for all.
void make_reactor_room(boost::asio::io_context& context, std::size_t descriptors) try {
  const process::Descriptor file(::memfd_create("iwarp", MFD_CLOEXEC));
  if (!file) return;
  std::deque<Watched> watched;
  while (watched.size() < descriptors) watched.emplace_back(context, file.get());
} catch (const std::exception&) {  // less room
}

}  // namespace iwarp::tcp_offload::kernel
