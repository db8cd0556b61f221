#include "choice.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstdlib>

#include "verbs/parts/fake_adapter.hpp"

// How a name chooses a provider, with a table of this test's own.
namespace iwarp::verbs::devices {
namespace {

using testing::ElementsAre;

std::string opened;  // PROVIDER/REST of the last one

Outcome<std::shared_ptr<provider::Provider>> open_inner(const std::string& rest) {
  opened = "inner/" + rest;
  return test::make_fake_adapter();
}

Outcome<std::shared_ptr<provider::Provider>> open_outer(const std::string& rest) {
  opened = "outer/" + rest;
  if (rest == "broken") return fail(std::errc::io_error, "the adapter broken has failed");
  return test::make_fake_adapter();
}

constexpr std::array kKinds = {
    DeviceKind{"inner", "inner:PLACE", [] { return std::vector<std::string>{""}; }, open_inner},
    DeviceKind{"outer", "",
               [] {
                 return std::vector<std::string>{"one", "broken"};
               },
               open_outer},
};

class DeviceChoice : public testing::Test {
 protected:
  DeviceChoice() {
    opened.clear();
    ::unsetenv("IWARP_DEVICE");
  }

  static void expect_unknown(const std::string& name, const std::string& asked) {
    SCOPED_TRACE(asked);
    opened.clear();
    const auto device = open(kKinds, name);
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().code, std::errc::no_such_device);
    EXPECT_EQ(
        device.error().message,
        "no device is called " + asked + ": there are inner, inner:PLACE, outer:one, outer:broken");
    EXPECT_EQ(opened, "") << "no provider is asked";
  }
};

TEST_F(DeviceChoice, ListsWhatEachProviderHasInTheOrderOfTheTable) {
  EXPECT_THAT(names_of(kKinds), ElementsAre("inner", "outer:one", "outer:broken"));
}

TEST_F(DeviceChoice, GivesTheProviderWhatStandsBehindItsPrefix) {
  EXPECT_TRUE(open(kKinds, "inner"));
  EXPECT_EQ(opened, "inner/");
  EXPECT_TRUE(open(kKinds, "inner:there"));
  EXPECT_EQ(opened, "inner/there");
  EXPECT_TRUE(open(kKinds, "outer:one"));
  EXPECT_EQ(opened, "outer/one");
  EXPECT_TRUE(open(kKinds, "outer:a:b"));
  EXPECT_EQ(opened, "outer/a:b");
}

TEST_F(DeviceChoice, NameThatNoProviderHasIsAnsweredWithThoseThatThereAre) {
  for (const std::string name : {"other", "other:one", "inner:", "outer", "outer:", ":", ":inner",
                                 "Inner", " inner", "innermost"}) {
    expect_unknown(name, "'" + name + "'");
  }
}

TEST_F(DeviceChoice, WhatTheProviderSaysOfItsDeviceIsPassedOn) {
  const auto device = open(kKinds, "outer:broken");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, std::errc::io_error);
  EXPECT_EQ(device.error().message, "the adapter broken has failed");
}

TEST_F(DeviceChoice, EmptyNameIsWhatTheEnvironmentSays) {
  EXPECT_TRUE(open(kKinds, ""));
  EXPECT_EQ(opened, "inner/");
  ::setenv("IWARP_DEVICE", "outer:one", 1);
  EXPECT_TRUE(open(kKinds, ""));
  EXPECT_EQ(opened, "outer/one");
  EXPECT_TRUE(open(kKinds, "inner:there")) << "a name comes before it";
  EXPECT_EQ(opened, "inner/there");
  ::setenv("IWARP_DEVICE", "", 1);
  EXPECT_TRUE(open(kKinds, ""));
  EXPECT_EQ(opened, "inner/");
  ::setenv("IWARP_DEVICE", "other", 1);
  expect_unknown("", "'other' (IWARP_DEVICE)");
}

}  // namespace
}  // namespace iwarp::verbs::devices
