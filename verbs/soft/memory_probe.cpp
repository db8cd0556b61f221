#include "soft/memory_probe.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>

#ifndef MADV_POPULATE_READ  // glibc before 2.35; Linux has them from 5.14 on
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace iwarp::verbs::soft {
namespace {

// Up to here it costs less to have the system touch each page (0.15 us a page) than to look at the
// mappings of the process (50 us and more).
constexpr std::uintptr_t kTouchedWhole = 1U << 20U;

std::uintptr_t page_size() {
  static const auto size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

// [begin, end) of the address space.
struct AddressRange {
  std::uintptr_t begin;
  std::uintptr_t end;

  [[nodiscard]] AddressRange whole_pages() const {
    const std::uintptr_t mask = page_size() - 1;
    return {begin & ~mask, (end + mask) & ~mask};
  }
};

int populate(const AddressRange& pages, Touch touch) {
  const int advice = touch == Touch::kWrite ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  void* const at = reinterpret_cast<void*>(pages.begin);
  while (::madvise(at, pages.end - pages.begin, advice) != 0) {
    if (errno != EINTR && errno != EAGAIN) return errno;
  }
  return 0;
}

bool can_populate() {
  static const bool can = [] {
    const auto here = reinterpret_cast<std::uintptr_t>(&errno);
    return populate(AddressRange{here, here + 1}.whole_pages(), Touch::kRead) == 0;
  }();
  return can;
}

// Reads /proc/self/maps, line by line.
class Mappings {
 public:
  struct Mapping {
    AddressRange addresses;
    bool readable;
    bool writable;
  };

  Mappings() : file_(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
  ~Mappings() {
    if (file_ >= 0) ::close(file_);
  }
  Mappings(const Mappings&) = delete;
  Mappings& operator=(const Mappings&) = delete;

  [[nodiscard]] bool open() const { return file_ >= 0; }
  /// Whether it could not be read to its end.
  [[nodiscard]] bool broken() const { return broken_; }
  /// In the order of their addresses; nothing behind the last one.
  std::optional<Mapping> next() {
    while (const auto line = next_line()) {
      if (const auto mapping = parse(*line)) return mapping;
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string_view> next_line();
  static std::optional<Mapping> parse(std::string_view line);

  const int file_;
  std::array<char, 8192> text_;  // longer than a line: it has one path
  std::size_t from_ = 0, to_ = 0;
  bool broken_ = false;
};

std::optional<std::string_view> Mappings::next_line() {
  for (;;) {
    const std::string_view all(text_.data() + from_, to_ - from_);
    const std::size_t size = all.find('\n');
    if (size != std::string_view::npos) {
      from_ += size + 1;
      return all.substr(0, size);
    }
    std::copy(all.begin(), all.end(), text_.begin());
    from_ = 0;
    to_ = all.size();
    const ssize_t got = ::read(file_, text_.data() + to_, text_.size() - to_);
    if (got < 0 && errno == EINTR) continue;
    broken_ = got < 0;
    if (got <= 0) return std::nullopt;
    to_ += static_cast<std::size_t>(got);
  }
}

// "55d0c8a00000-55d0c8a21000 rw-p ..."
std::optional<Mappings::Mapping> Mappings::parse(std::string_view line) {
  Mapping mapping{};
  const char* const end = line.data() + line.size();
  const auto [dash, first] = std::from_chars(line.data(), end, mapping.addresses.begin, 16);
  if (first != std::errc{} || dash == end || *dash != '-') return std::nullopt;
  const auto [space, second] = std::from_chars(dash + 1, end, mapping.addresses.end, 16);
  if (second != std::errc{} || end - space < 3) return std::nullopt;
  mapping.readable = space[1] == 'r';
  mapping.writable = space[2] == 'w';
  return mapping;
}

// A file may be shorter than its mapping, a device's memory may be no memory at all: what is true
// of the last page is true of those before it.
bool end_is_there(const AddressRange& piece, Touch touch) {
  if (!can_populate()) return true;
  return populate({piece.end - page_size(), piece.end}, touch) == 0;
}

bool mappings_allow(Mappings& mappings, const AddressRange& wanted, Touch touch) {
  std::uintptr_t reached = wanted.begin;
  while (const auto mapping = mappings.next()) {
    if (mapping->addresses.end <= reached) continue;
    if (mapping->addresses.begin > reached) return false;
    if (!(touch == Touch::kWrite ? mapping->writable : mapping->readable)) return false;
    const std::uintptr_t end = std::min(mapping->addresses.end, wanted.end);
    if (!end_is_there({reached, end}, touch)) return false;
    reached = end;
    if (reached == wanted.end) return true;
  }
  return false;
}

}  // namespace

Touch touch_of(Access access) {
  constexpr std::array kWriting{Access::kLocalWrite, Access::kRemoteWrite, Access::kRemoteAtomic,
                                Access::kWindowBind};
  const bool writes = std::ranges::any_of(kWriting, [&](Access flag) { return has(access, flag); });
  return writes ? Touch::kWrite : Touch::kRead;
}

bool may_touch(MutableBytes memory, Touch touch) {
  if (memory.empty()) return true;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  if (memory.size() > UINTPTR_MAX - begin - page_size()) return false;
  const AddressRange pages = AddressRange{begin, begin + memory.size()}.whole_pages();
  const bool small = pages.end - pages.begin <= kTouchedWhole;
  if (small && can_populate()) return populate(pages, touch) == 0;
  Mappings mappings;
  if (mappings.open()) {
    const bool allowed = mappings_allow(mappings, pages, touch);
    if (allowed || !mappings.broken()) return allowed;
  }
  // No /proc, or no descriptor left. A system that can do neither lets everything pass: what is not
  // there is then found when it is used.
  return !can_populate() || populate(pages, touch) == 0;
}

bool make_present(MutableBytes memory, Touch touch) {
  if (memory.empty() || !can_populate()) return true;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  return populate(AddressRange{begin, begin + memory.size()}.whole_pages(), touch) == 0;
}

}  // namespace iwarp::verbs::soft
