#pragma once

// A hash table in a peer's memory, used without its processor.
//
// A client that looks up reads a whole entry at once. A Write may be under way meanwhile, and then
// the checksum is wrong: it reads again. A client that changes a bucket locks it first, by CmpSwap.
// A client that dies with a lock leaves it locked; a real store would give locks a time. All hosts
// have the same byte order.
// clang-format off
#include <utility>  // which Boost 1.74 forgets: before its coroutines
// clang-format on
#include <boost/asio/use_awaitable.hpp>
#include <cstddef>
#include <iwarp/asio.hpp>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

namespace net = boost::asio;
namespace iw = iwarp::asio;
using net::awaitable, net::use_awaitable;

// FNV-1a.
inline std::uint64_t hash(std::string_view octets) {
  std::uint64_t value = 0xCBF29CE484222325;
  for (const char octet : octets)
    value = (value ^ static_cast<unsigned char>(octet)) * 0x100000001B3;
  return value;
}

struct entry {
  std::uint64_t version = 0;  // how often it was put; 0: empty
  char key[32] = {}, value[64] = {};
  std::uint64_t checksum = 0;  // of what is before; of an empty one 0

  [[nodiscard]] std::uint64_t sum() const {
    if (version == 0) return 0;
    return hash({reinterpret_cast<const char*>(this), offsetof(entry, checksum)});
  }
};

struct bucket {
  std::uint64_t lock = 0;  // whose it is; 0: it is free. For atomics only.
  entry content;
};

constexpr std::size_t kBuckets = 4096;

inline iw::remote_buffer lock_of(const iw::remote_buffer& place) { return place.part(0, 8); }
inline iw::remote_buffer content_of(const iw::remote_buffer& place) {
  return place.part(offsetof(bucket, content));
}

// What a client does. It uses the memory `copy_` for one request after the other.
class store {
 public:
  explicit store(iw::domain& domain)
      : peer_(domain), copy_(domain, sizeof(entry), domain.read_sink()) {}

  awaitable<void> open(iw::endpoint server) {
    co_await peer_.async_connect(server, use_awaitable);
    const std::vector<std::byte> told = peer_.info().private_data;
    if (told.size() != iw::remote_buffer::wire_size) throw std::runtime_error("no such server");
    table_ = iw::remote_buffer::from_bytes(std::span(told).first<iw::remote_buffer::wire_size>());
  }
  awaitable<void> close() { return peer_.async_shutdown(use_awaitable); }

  awaitable<std::optional<std::string>> get(std::string key) {
    co_await find(key);
    if (seen().version == 0) co_return std::nullopt;
    co_return seen().value;
  }

  awaitable<void> put(std::string key, std::string value) {
    if (key.size() >= sizeof entry::key || value.size() >= sizeof entry::value)
      throw std::invalid_argument("key or value too long");
    // Not as the condition of a loop: g++ 12 does not wait in one whose body is empty.
    for (bool done = false; !done;) done = co_await try_put(key, value);
  }

  [[nodiscard]] std::size_t torn_reads() const { return torn_; }

 private:
  entry& seen() { return *reinterpret_cast<entry*>(copy_.data()); }
  [[nodiscard]] iw::remote_buffer place_of(std::size_t at) const {
    return table_.part(at * sizeof(bucket), sizeof(bucket));
  }

  // Reads the bucket with that key, or else the empty one where it belongs (linear probing).
  awaitable<iw::remote_buffer> find(std::string_view key) {
    const std::size_t first = hash(key) % kBuckets;
    for (std::size_t i = 0; i < kBuckets; ++i) {
      const auto place = place_of((first + i) % kBuckets);
      co_await read(place);
      if (seen().version == 0 || key == seen().key) co_return place;
    }
    throw std::runtime_error("the table is full");
  }

  awaitable<void> read(iw::remote_buffer place) {
    for (;; ++torn_) {
      co_await peer_.async_read(copy_.part(0), content_of(place), use_awaitable);
      if (seen().checksum == seen().sum()) co_return;
    }
  }

  awaitable<bool> try_put(std::string_view key, std::string_view value) {
    const auto place = co_await find(key);
    const auto lock = lock_of(place);
    if (co_await peer_.async_compare_swap(lock, 0, own_, use_awaitable) != 0) co_return false;
    co_await read(place);  // again: another client may have put another key there
    const bool fits = seen().version == 0 || key == seen().key;
    if (fits) {
      entry changed{.version = seen().version + 1};
      key.copy(changed.key, sizeof changed.key - 1);
      value.copy(changed.value, sizeof changed.value - 1);
      changed.checksum = changed.sum();
      co_await peer_.async_write(net::buffer(&changed, sizeof changed), content_of(place),
                                 use_awaitable);
    }
    // Requests of a connection are performed in their order: the Write is there before this.
    co_await peer_.async_compare_swap(lock, own_, 0, use_awaitable);
    co_return fits;
  }

  iw::connection peer_;
  iw::registered_buffer copy_;
  iw::remote_buffer table_;
  std::uint64_t own_ = std::uint64_t{std::random_device()()} << 32 | 1U;  // what it locks with
  std::size_t torn_ = 0;
};

}  // namespace examples
