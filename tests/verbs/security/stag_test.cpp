#include <gtest/gtest.h>

#include <array>
#include <set>

#include "soft/memory_registry.hpp"

// STags as a peer sees them: nothing follows from those that it was given (RFC 5042 §6.1.1).
namespace iwarp::verbs::soft {
namespace {

constexpr ddp::ProtectionDomainId kPd{1};

class SecurityStag : public testing::Test {
 protected:
  Stag enable(MemoryRegistry& registry) {
    return registry
        .enable({memory_.data(), TaggedOffset{0}, memory_.size(), kPd, ddp::Rights::kRemoteRead})
        .value();
  }
  std::vector<Stag> enable_many(MemoryRegistry& registry, std::size_t count) {
    std::vector<Stag> stags;
    for (std::size_t i = 0; i < count; ++i) stags.push_back(enable(registry));
    return stags;
  }
  static bool reaches(MemoryRegistry& registry, std::uint32_t stag) {
    return registry.table()
        .pin(Stag{stag}, kPd, ddp::Rights::kRemoteRead, TaggedOffset{0}, 1)
        .has_value();
  }

  std::array<std::byte, 16> memory_{};
  MemoryRegistry registry_;
};

TEST_F(SecurityStag, DoesNotTellTheNextOne) {
  const auto stags = enable_many(registry_, 1000);
  std::set<std::uint32_t> steps;
  for (std::size_t i = 1; i < stags.size(); ++i) {
    steps.insert(stags[i].value() - stags[i - 1].value());
  }
  EXPECT_GT(steps.size(), 990U);
}

TEST_F(SecurityStag, HasNoNeighbourThatLeadsAnywhere) {
  unsigned hits = 0;
  for (const Stag stag : enable_many(registry_, 1000)) {
    for (const std::uint32_t step : {1U, 2U, 0x100U, 0x200U}) {
      hits += reaches(registry_, stag.value() + step) ? 1U : 0U;
      hits += reaches(registry_, stag.value() - step) ? 1U : 0U;
    }
  }
  EXPECT_LE(hits, 1U) << "by chance one in a thousand runs has one";
}

TEST_F(SecurityStag, IsSpreadOverTheWholeRange) {  // RFC 5040 §8.1.1
  std::set<std::uint32_t> high_bits, keys;
  for (const Stag stag : enable_many(registry_, 2000)) {
    high_bits.insert(stag.value() >> 28U);
    keys.insert(stag.value() & 0xFFU);
  }
  EXPECT_EQ(high_bits.size(), 16U);
  EXPECT_GT(keys.size(), 200U);
}

TEST_F(SecurityStag, DoesNotComeBackSoonOnceItHasEnded) {
  std::set<std::uint32_t> indices;
  for (int i = 0; i < 1000; ++i) {
    const Stag stag = enable(registry_);
    EXPECT_TRUE(indices.insert(stag.value() >> 8U).second) << "came back after " << i;
    registry_.disable(stag);
    EXPECT_FALSE(reaches(registry_, stag.value()));
  }
}

TEST_F(SecurityStag, OfOneHostIsOfNoUseAtAnother) {
  MemoryRegistry other;
  enable_many(other, 1000);
  unsigned hits = 0;
  for (const Stag stag : enable_many(registry_, 1000)) {
    hits += reaches(other, stag.value()) ? 1U : 0U;
  }
  EXPECT_LE(hits, 1U);
}

}  // namespace
}  // namespace iwarp::verbs::soft
