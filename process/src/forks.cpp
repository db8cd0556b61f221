#include "iwarp/process/forks.hpp"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "iwarp/process/log.hpp"

namespace iwarp::process {
namespace {

/// A set of descriptors that a forked child can walk through whatever the parent's threads were
/// doing: no lock, and no step that leaves it half changed.
class DescriptorSet {
 public:
  void insert(int descriptor) {
    if (auto* word = word_of(descriptor)) word->fetch_or(bit_of(descriptor));
  }
  void erase(int descriptor) {
    if (auto* word = word_of(descriptor)) word->fetch_and(~bit_of(descriptor));
  }
  // In the child of a process with threads: nothing but system calls that signal handlers may make.
  void close_all() {
    for (std::size_t page = 0; page < kPages; ++page) {
      Page* words = pages_[page].load();
      for (std::size_t i = 0; words != nullptr && i < kWords; ++i) {
        for (std::uint64_t left = (*words)[i].exchange(0); left != 0; left &= left - 1) {
          const auto bit = static_cast<std::size_t>(std::countr_zero(left));
          ::close(static_cast<int>((page * kWords + i) * kBits + bit));
        }
      }
    }
  }

 private:
  static constexpr std::size_t kBits = 64, kWords = 64, kPages = 256;
  using Page = std::array<std::atomic<std::uint64_t>, kWords>;

  static std::uint64_t bit_of(int descriptor) {
    return std::uint64_t{1} << (static_cast<unsigned>(descriptor) % kBits);
  }
  std::atomic<std::uint64_t>* word_of(int descriptor) {
    const std::size_t word = static_cast<unsigned>(descriptor) / kBits;
    if (word >= kPages * kWords) return nullptr;
    std::atomic<Page*>& place = pages_[word / kWords];
    Page* page = place.load();
    if (page == nullptr) {
      auto made = std::make_unique<Page>();
      if (place.compare_exchange_strong(page, made.get())) page = made.release();
    }
    return &(*page)[word % kWords];
  }

  std::array<std::atomic<Page*>, kPages> pages_{};
};

constinit DescriptorSet to_close;

// What a child has given up, in a list.
struct Kept {
  void* object;
  Kept* before;
};
constinit std::atomic<Kept*> all_kept{nullptr};

constinit std::atomic<unsigned> told_after{0};

void on_fork_in_child() {
  detail::forks.fetch_add(1);
  to_close.close_all();
}

[[maybe_unused]] const int registered = ::pthread_atfork(nullptr, nullptr, &on_fork_in_child);

}  // namespace

namespace detail {

constinit std::atomic<unsigned> forks{0};

}  // namespace detail

void tell_why_calls_fail() {
  const unsigned now = forks();
  if (told_after.exchange(now) == now) return;
  log(LogLevel::kWarn,
      "process " + std::to_string(::getpid()) +
          " was forked: the RDMA devices, listeners and connections that it has inherited are its "
          "parent's, and calls on them fail (ENODEV); it can open its own. A program that becomes "
          "a daemon does so before it opens any");
}

void keep_inherited(void* object) {
  auto* const kept = new Kept{object, all_kept.load()};
  while (!all_kept.compare_exchange_weak(kept->before, kept)) {
  }
}

ClosedInChildren::ClosedInChildren(int descriptor) : descriptor_(descriptor) {
  if (descriptor_ >= 0) to_close.insert(descriptor_);
}

void ClosedInChildren::release() {
  const int descriptor = std::exchange(descriptor_, -1);
  // In a child the number may be that of another of its own by now.
  if (descriptor >= 0 && !origin_.inherited()) to_close.erase(descriptor);
}

}  // namespace iwarp::process
