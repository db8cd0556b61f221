#pragma once

// The two ends of a transfer, and the messages between them. Both hosts have the same byte order.
// clang-format off
#include <utility>  // which Boost 1.74 forgets: before its coroutines
// clang-format on
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iwarp/asio.hpp>
#include <stdexcept>
#include <string>

namespace examples {

namespace net = boost::asio;
namespace iw = iwarp::asio;
namespace fs = std::filesystem;
using net::awaitable, net::use_awaitable;

constexpr std::size_t kChunk = 256 * 1024;
constexpr std::size_t kUnderWay = 4;  // chunks that a client asks for at once

enum class direction : std::uint32_t { get, put };

struct request {
  direction what{};
  std::uint32_t length = 0;  // octets of the file, at most kChunk,
  std::uint64_t offset = 0;  // from here on
  char name[92] = {};        // a file of the server's folder
  std::array<std::byte, iw::remote_buffer::wire_size> memory{};  // the client's
};

struct answer {
  std::int32_t error = 0;    // an errno
  std::uint32_t length = 0;  // octets moved: of a get fewer at the end of the file
};

constexpr iw::connection_options kOptions{.message_count = kUnderWay,
                                          .message_size = sizeof(request)};

template <typename T>
T value_of(const iw::message& message) {
  T value;
  if (message.size() != sizeof value) throw std::runtime_error("a message of unknown kind");
  std::memcpy(&value, message.data(), sizeof value);
  return value;
}

// ---- Server ----

class session {
 public:
  session(iw::connection peer, iw::domain& domain, fs::path folder)
      : peer_(std::move(peer)),
        chunk_(domain, kChunk, domain.read_sink()),
        folder_(std::move(folder)) {}

  awaitable<void> run() {
    for (;;) {
      auto asked = co_await peer_.async_receive(use_awaitable);
      const answer done = co_await perform(value_of<request>(asked));
      asked = {};  // its receive is posted again before the client hears that it may ask again
      co_await peer_.async_send(net::buffer(&done, sizeof done), use_awaitable);
    }
  }

 private:
  awaitable<answer> perform(request asked) {
    asked.name[sizeof asked.name - 1] = 0;
    const fs::path name = asked.name;
    if (name != name.filename() || name == "." || name == ".." || asked.length > kChunk)
      co_return answer{.error = EINVAL};
    const auto memory = iw::remote_buffer::from_bytes(asked.memory);
    auto* octets = reinterpret_cast<char*>(chunk_.data());
    if (asked.what == direction::put) {
      co_await peer_.async_read(chunk_.part(0, asked.length), memory, use_awaitable);
      const auto mode = asked.offset == 0 ? std::ios::trunc : std::ios::in;
      std::ofstream file(folder_ / name, std::ios::binary | std::ios::out | mode);
      if (!file.seekp(offset_of(asked)).write(octets, asked.length).flush())
        co_return answer{.error = EIO};
      co_return answer{.length = asked.length};
    }
    std::ifstream file(folder_ / name, std::ios::binary);
    if (!file) co_return answer{.error = ENOENT};
    file.seekg(offset_of(asked)).read(octets, asked.length);
    const auto length = static_cast<std::uint32_t>(file.gcount());
    co_await peer_.async_write(chunk_.part(0, length), memory, use_awaitable);
    co_return answer{.length = length};
  }

  static std::streamoff offset_of(const request& asked) {
    return static_cast<std::streamoff>(asked.offset);
  }

  iw::connection peer_;
  iw::registered_buffer chunk_;
  fs::path folder_;
};

// ---- Client ----

class client {
 public:
  explicit client(iw::domain& domain)
      : peer_(domain, kOptions),
        chunks_(domain, kUnderWay * kChunk,
                iw::access_rights::kLocalWrite | iw::access_rights::kRemoteRead |
                    iw::access_rights::kRemoteWrite) {}

  awaitable<void> open(iw::endpoint server) { return peer_.async_connect(server, use_awaitable); }
  awaitable<void> close() { return peer_.async_shutdown(use_awaitable); }

  // Asks for chunk after chunk, with up to kUnderWay answers outstanding. They come in order.
  awaitable<void> move(direction what, std::string name, fs::path local) {
    const auto mode = what == direction::put ? std::ios::in : std::ios::out | std::ios::trunc;
    std::fstream file(local, std::ios::binary | mode);
    if (!file) throw std::system_error(errno, std::generic_category(), local.string());
    std::uint64_t asked = 0, answered = 0;
    for (bool end = false; !end || answered < asked;) {  // the end of the file
      if (!end && asked < answered + kUnderWay) {
        std::size_t length = kChunk;
        if (what == direction::put) {
          file.read(octets_of(asked), kChunk);
          length = static_cast<std::size_t>(file.gcount());
          end = length < kChunk;
        }
        co_await ask(what, name, asked++, length);
      } else {
        const auto done = value_of<answer>(co_await peer_.async_receive(use_awaitable));
        if (done.error != 0) throw std::system_error(done.error, std::generic_category(), name);
        if (what == direction::get) {
          file.write(octets_of(answered), done.length);
          end = end || done.length < kChunk;
        }
        ++answered;
      }
    }
    if (what == direction::get && !file.flush()) throw std::runtime_error("cannot write the file");
  }

 private:
  static std::size_t place_of(std::uint64_t chunk) { return chunk % kUnderWay * kChunk; }
  char* octets_of(std::uint64_t chunk) {
    return reinterpret_cast<char*>(chunks_.data()) + place_of(chunk);
  }
  awaitable<void> ask(direction what, const std::string& name, std::uint64_t chunk,
                      std::size_t length) {
    request wanted{.what = what, .length = static_cast<std::uint32_t>(length)};
    wanted.offset = chunk * kChunk;
    name.copy(wanted.name, sizeof wanted.name - 1);
    wanted.memory = chunks_.remote(place_of(chunk), length).to_bytes();
    co_await peer_.async_send(net::buffer(&wanted, sizeof wanted), use_awaitable);
  }

  iw::connection peer_;
  iw::registered_buffer chunks_;
};

}  // namespace examples
