#include "soft/memory_probe.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <fstream>
#include <sstream>

#include "support/vanishing_memory.hpp"
#include "verbs/sim_harness.hpp"

// Registration asks for what the access takes.
namespace iwarp::verbs::simtest {
namespace {

using iwarp::test::Loss;
using iwarp::test::VanishingMemory;
using soft::may_touch;
using soft::Touch;

constexpr Access kWriting[] = {Access::kLocalWrite, Access::kLocalWrite | Access::kRemoteWrite,
                               Access::kLocalWrite | Access::kRemoteAtomic, Access::kWindowBind,
                               Access::kRemoteRead | Access::kLocalWrite};
constexpr Access kReading[] = {Access::kNone, Access::kRemoteRead, Access::kRemoteInvalidate,
                               Access::kRemoteRead | Access::kZeroBased};

// A few pages are touched, many looked up.
class Probe : public testing::TestWithParam<std::size_t> {
 protected:
  std::error_code registers(Access access) { return registers(access, memory.bytes()); }
  std::error_code registers(Access access, MutableBytes bytes) {
    const auto made = soft::register_memory(registry, pd, bytes, access);
    return made ? std::error_code{} : made.error().code;
  }
  void expect(std::error_code reading, std::error_code writing) {
    for (const Access access : kReading) {
      EXPECT_EQ(registers(access), reading) << static_cast<unsigned>(access);
    }
    for (const Access access : kWriting) {
      EXPECT_EQ(registers(access), writing) << static_cast<unsigned>(access);
    }
  }
  void protect(int protection, std::size_t first, std::size_t count) {
    const std::size_t size = VanishingMemory::page();
    ASSERT_EQ(::mprotect(memory.data() + first * size, count * size, protection), 0);
  }

  const std::error_code fine;
  const std::error_code no_access = std::make_error_code(std::errc::bad_address);
  const std::size_t pages = GetParam();
  const std::size_t middle = pages / 2;
  VanishingMemory memory{pages};
  const std::shared_ptr<soft::MemoryRegistry> registry = std::make_shared<soft::MemoryRegistry>(1);
  const std::shared_ptr<soft::SoftPd> pd =
      std::make_shared<soft::SoftPd>(ddp::ProtectionDomainId{1});
};

INSTANTIATE_TEST_SUITE_P(FewAndManyPages, Probe, testing::Values(3, 600));

TEST_P(Probe, MemoryThatMayBeReadAndWrittenIsRegisteredForEverything) { expect(fine, fine); }

TEST_P(Probe, ReadOnlyMemoryIsRegisteredForReading) {
  protect(PROT_READ, 0, pages);
  expect(fine, no_access);
}

TEST_P(Probe, MemoryWithoutAccessIsNotRegistered) {
  protect(PROT_NONE, 0, pages);
  expect(no_access, no_access);
}

TEST_P(Probe, OnePageDecidesWhereverItIs) {
  for (const std::size_t page : {std::size_t{0}, middle, pages - 1}) {
    SCOPED_TRACE(page);
    memory.give_back();
    protect(PROT_READ, page, 1);
    expect(fine, no_access);
    protect(PROT_NONE, page, 1);
    expect(no_access, no_access);
    ::munmap(memory.data() + page * VanishingMemory::page(), VanishingMemory::page());
    expect(no_access, no_access);
  }
}

TEST_P(Probe, PagesAroundTheRegionDoNotCount) {
  protect(PROT_NONE, 0, 1);
  protect(PROT_NONE, pages - 1, 1);
  const std::size_t page = VanishingMemory::page();
  EXPECT_EQ(registers(Access::kLocalWrite, memory.bytes().subspan(page, (pages - 2) * page)), fine);
  EXPECT_EQ(registers(Access::kLocalWrite, memory.bytes().subspan(page - 1, page)), no_access);
  EXPECT_EQ(registers(Access::kLocalWrite, memory.bytes().subspan(2 * page - 1, 2)),
            pages == 3 ? no_access : fine);
}

TEST_P(Probe, FileThatEndsBeforeItsMappingIsNotRegistered) {
  memory.lose(Loss::kTruncated, pages - 1);
  expect(no_access, no_access);
  EXPECT_EQ(
      registers(Access::kLocalWrite, memory.bytes().first((pages - 1) * VanishingMemory::page())),
      fine);
}

TEST_P(Probe, MappingsSideBySideAreOne) {
  protect(PROT_READ, 0, middle);
  EXPECT_EQ(registers(Access::kRemoteRead), fine);
  EXPECT_EQ(registers(Access::kLocalWrite), no_access);
}

TEST_P(Probe, NothingAtAllMayBeAnywhere) {
  EXPECT_TRUE(may_touch({}, Touch::kWrite));
  EXPECT_TRUE(may_touch({reinterpret_cast<std::byte*>(8), 0}, Touch::kWrite));
}

TEST_P(Probe, RangeThatWrapsIsNoMemory) {
  EXPECT_FALSE(may_touch({memory.data(), SIZE_MAX}, Touch::kRead));
  EXPECT_FALSE(may_touch(
      {memory.data(), SIZE_MAX - reinterpret_cast<std::uintptr_t>(memory.data())}, Touch::kRead));
}

TEST_P(Probe, RegistrationThatFailsLeavesTheOldOneInForce) {
  const auto made = soft::register_memory(registry, pd, memory.bytes(), Access::kLocalWrite);
  ASSERT_TRUE(made);
  auto& mr = dynamic_cast<soft::SoftMr&>(**made);
  const Stag before = mr.lkey();
  VanishingMemory other(pages);
  other.lose(Loss::kReadOnly);
  const auto again = mr.reregister(pd, other.bytes(), Access::kLocalWrite);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, no_access);
  EXPECT_EQ(mr.lkey(), before);
  EXPECT_TRUE(registry->table().in_force(before));
  EXPECT_TRUE(mr.reregister(pd, other.bytes(), Access::kRemoteRead));
}

TEST_P(Probe, FastRegistrationOfWhatMayNotBeTouchedIsRefused) {
  const Stag stag = registry->reserve(soft::Reserved::kFastRegion, pd->id()).value();
  RegisterWr request{stag, memory.data(), memory.size(), Access::kLocalWrite};
  memory.lose(Loss::kReadOnly);
  EXPECT_FALSE(registry->register_fast(request, pd->id()));
  request.access = Access::kRemoteRead;
  EXPECT_TRUE(registry->register_fast(request, pd->id()));
}

std::size_t resident_kib(const void* at) {
  std::ifstream maps("/proc/self/smaps");
  std::ostringstream begin;
  begin << std::hex << reinterpret_cast<std::uintptr_t>(at) << '-';
  std::string line;
  while (std::getline(maps, line) && !line.starts_with(begin.str())) {
  }
  while (std::getline(maps, line) && !line.starts_with("Rss:")) {
  }
  return std::stoul(line.substr(line.find_first_of("0123456789")));
}

// Guests and caches reserve more than the machine has, and fill it bit by bit.
TEST(LargeRegion, CostsNoMemoryBeforeItIsUsed) {
  constexpr std::size_t kSize = std::size_t{1} << 30U;
  void* const at = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(at, MAP_FAILED);
  EXPECT_TRUE(may_touch({static_cast<std::byte*>(at), kSize}, Touch::kWrite));
  EXPECT_LE(resident_kib(at), 2048U);  // one page, be it a huge one
  ::munmap(at, kSize);
}

}  // namespace
}  // namespace iwarp::verbs::simtest
