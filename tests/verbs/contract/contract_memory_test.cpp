// What every provider promises of protection domains and memory regions.
#include <sys/mman.h>
#include <unistd.h>

#include <set>

#include "verbs/contract/fixture.hpp"

namespace iwarp::verbs::contract {
namespace {

class MemoryContract : public Contract {
 protected:
  // Registers and lets go at once; returns why it was refused.
  std::error_code try_to_register(MutableBytes memory, Access access) {
    const auto made = client.pd->register_memory(memory, access);
    EXPECT_TRUE(made || !made.error().message.empty()) << "a refusal says why";
    return refusal(made);
  }
};
IWARP_IN_EVERY_WORLD(MemoryContract);

// A page that the kernel protects.
class Page {
 public:
  explicit Page(int protection)
      : at_(::mmap(nullptr, size(), protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Page() { ::munmap(at_, size()); }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  [[nodiscard]] MutableBytes bytes() const { return {static_cast<std::byte*>(at_), size()}; }

 private:
  static std::size_t size() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
  void* const at_;
};

TEST_P(MemoryContract, ARegionNamesItsMemory) {
  const Buffer& buffer = client.buffer(100);
  const auto address = reinterpret_cast<std::uintptr_t>(buffer.region->data());
  EXPECT_EQ(buffer.region->size(), 100U);
  EXPECT_EQ(buffer.sge().address, buffer.region->data());
  EXPECT_EQ(buffer.sge().length, 100U);
  EXPECT_EQ(buffer.sge().lkey, buffer.region->lkey());
  EXPECT_EQ(buffer.region->remote(10, 5).offset, address + 10);
  EXPECT_EQ(buffer.region->remote(10, 5).length, 5U);
  EXPECT_EQ(buffer.region->remote().stag, buffer.region->rkey());
}

TEST_P(MemoryContract, RegionsThatLiveAtATimeHaveDifferentKeys) {
  constexpr std::size_t kRegions = 100;
  std::set<std::uint32_t> remote;
  std::set<std::uint32_t> local;
  for (std::size_t i = 0; i < kRegions; ++i) {
    const Buffer& buffer = client.buffer(64);
    remote.insert(buffer.key().value());
    local.insert(buffer.region->lkey().value());
  }
  EXPECT_EQ(remote.size(), kRegions);
  EXPECT_EQ(local.size(), kRegions);
}

TEST_P(MemoryContract, TheSameMemoryMayBeRegisteredTwice) {
  const Buffer& buffer = client.buffer(64);
  const auto again = client.pd->register_memory({buffer.region->data(), 64}, Access::kRemoteRead);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_NE(again->rkey(), buffer.key());
}

TEST_P(MemoryContract, AKeyThatHasEndedDoesNotComeBackSoon) {
  IWARP_NEEDS(Capability::kKeysRest);
  std::set<std::uint32_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const Buffer passing(*client.pd, 64, kReachable);
    EXPECT_TRUE(seen.insert(passing.key().value()).second) << "after " << i << " regions";
  }
}

TEST_P(MemoryContract, ARegionMayOutliveItsDomain) {
  auto pd = std::make_optional(world->client().alloc_pd().value());
  const Buffer buffer(*pd, 64, kReachable);
  pd.reset();
  EXPECT_EQ(buffer.sge().length, 64U);
}

TEST_P(MemoryContract, RemoteWriteNeedsLocalWrite) {
  Bytes memory(64);
  EXPECT_EQ(try_to_register(memory, Access::kRemoteWrite), std::errc::invalid_argument);
  EXPECT_EQ(try_to_register(memory, Access::kRemoteWrite | Access::kRemoteRead),
            std::errc::invalid_argument);
  EXPECT_EQ(try_to_register(memory, kWritable), std::error_code());
}

TEST_P(MemoryContract, RemoteAtomicsNeedLocalWrite) {
  Bytes memory(64);
  EXPECT_TRUE(try_to_register(memory, Access::kRemoteAtomic));
}

TEST_P(MemoryContract, MemoryThatIsNotThereIsRefused) {
  IWARP_NEEDS(Capability::kProbesMemory);
  const Page none(PROT_NONE);
  EXPECT_EQ(try_to_register(none.bytes(), Access::kLocalWrite), std::errc::bad_address);
  EXPECT_EQ(try_to_register(none.bytes(), Access::kRemoteRead), std::errc::bad_address);
}

TEST_P(MemoryContract, MemoryThatCannotBeWrittenIsRefusedForWriting) {
  const Page page(PROT_READ);
  EXPECT_EQ(try_to_register(page.bytes(), Access::kLocalWrite), std::errc::bad_address);
  EXPECT_EQ(try_to_register(page.bytes(), kWritable), std::errc::bad_address);
}

TEST_P(MemoryContract, MemoryThatCannotBeWrittenCanBeRead) {
  const Page page(PROT_READ);
  EXPECT_EQ(try_to_register(page.bytes(), Access::kRemoteRead), std::error_code());
}

TEST_P(MemoryContract, ARegionIsRegisteredAnewOrStaysAsItWas) {
  Buffer& buffer = client.buffer(64);
  const Stag before = buffer.key();
  Bytes other(128);
  const auto done = buffer.region->reregister(*client.pd, other, kReachable);
  if (can(Capability::kReregistration)) {
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(buffer.region->data(), other.data());
    EXPECT_EQ(buffer.region->size(), other.size());
    EXPECT_NE(buffer.key(), before);
    buffer.region.reset();
  } else {
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, std::errc::not_supported);
    EXPECT_EQ(buffer.region->size(), 64U);
    EXPECT_EQ(buffer.key(), before);
  }
}

}  // namespace
}  // namespace iwarp::verbs::contract
