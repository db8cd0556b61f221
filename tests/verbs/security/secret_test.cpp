#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <set>
#include <vector>

#include "iwarp/verbs/verbs.hpp"

// What peers must not foresee comes from the system's generator, and without that there is no
// device (RFC 5042 §6.1.1).
namespace {

std::atomic<bool> is_random{true};

}  // namespace

// In front of the system's.
extern "C" ssize_t getrandom(void* to, std::size_t size, unsigned flags) {
  using Call = ssize_t (*)(void*, std::size_t, unsigned);
  static const auto next = reinterpret_cast<Call>(::dlsym(RTLD_NEXT, "getrandom"));
  if (is_random) return next(to, size, flags);
  errno = ENOSYS;
  return -1;
}

namespace iwarp::verbs {
namespace {

TEST(SecuritySecret, TwoDevicesNameTheirMemoryDifferently) {
  std::set<std::uint32_t> stags;
  std::array<std::byte, 16> memory{};
  constexpr std::size_t kEach = 20;
  for (int i = 0; i < 2; ++i) {
    Device device = Device::open().value();
    ProtectionDomain pd = device.alloc_pd().value();
    std::vector<MemoryRegion> regions;
    for (std::size_t j = 0; j < kEach; ++j) {
      regions.push_back(pd.register_memory(memory, Access::kLocalWrite).value());
      stags.insert(regions.back().rkey().value());
    }
  }
  // Two of them are alike by chance once in ten million runs.
  EXPECT_EQ(stags.size(), 2 * kEach);
}

TEST(SecuritySecret, WithoutOneNoDeviceIsOpened) {
  is_random = false;
  const auto device = Device::open();
  is_random = true;
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, std::errc::function_not_supported);
  EXPECT_NE(device.error().message.find("random numbers"), std::string::npos)
      << device.error().message;
  EXPECT_TRUE(Device::open());
}

}  // namespace
}  // namespace iwarp::verbs
