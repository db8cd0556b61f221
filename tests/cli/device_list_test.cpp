#include "commands/device_list.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace iwarp::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

ListedDevice device_with(std::vector<std::string> offloads) {
  verbs::DeviceAttributes attributes;
  attributes.name = "outer:one";
  attributes.provider = "maker";
  attributes.stream = "none";
  attributes.offloads = std::move(offloads);
  attributes.max_qp = 7;
  return {"outer:one", std::move(attributes)};
}

TEST(DeviceList, SaysOfEachPartOfTheProtocolWhereItRuns) {
  const ListedDevice device = device_with({"crc", "markers"});
  EXPECT_THAT(to_text(device), testing::StartsWith("outer:one\n"
                                                   "  provider maker, stream device none\n"
                                                   "  RDMAP             this host\n"
                                                   "  DDP placement     this host\n"
                                                   "  MPA segmentation  this host\n"
                                                   "  MPA markers       the adapter\n"
                                                   "  CRC               the adapter\n"
                                                   "  TCP               this host\n"
                                                   "  max_qp            7\n"));
  const json data = to_json(device);
  EXPECT_EQ(data["name"], "outer:one");
  EXPECT_EQ(data["offloads"], json({"crc", "markers"}));
  EXPECT_EQ(data["runs_on"], json({{"rdmap", "host"},
                                   {"ddp_placement", "host"},
                                   {"mpa_segmentation", "host"},
                                   {"mpa_markers", "adapter"},
                                   {"crc", "adapter"},
                                   {"tcp", "host"}}));
  EXPECT_EQ(data["limits"]["max_qp"], 7);
}

TEST(DeviceList, AnAdapterThatDoesEverythingLeavesNothingToThisHost) {
  const ListedDevice device = device_with({"full"});
  EXPECT_THAT(to_text(device), testing::Not(HasSubstr("this host")));
  const json runs_on = to_json(device)["runs_on"];
  for (const auto& [part, where] : runs_on.items()) {
    EXPECT_EQ(where, "adapter") << part;
  }
}

TEST(DeviceList, AnAdapterHasADriverAPortAndAddresses) {
  ListedDevice device = device_with({"full"});
  EXPECT_THAT(to_text(device), testing::Not(HasSubstr("driver")));
  EXPECT_FALSE(to_json(device).contains("adapter"));
  device.attributes->port = 1;
  EXPECT_THAT(to_text(device), HasSubstr("\n  driver unknown, port 1\n  addresses none\n"));
  device.attributes->driver = "cxgb4";
  device.attributes->addresses = {"192.0.2.1", "fe80::1"};
  EXPECT_THAT(to_text(device), HasSubstr("\n  driver cxgb4, port 1\n"
                                         "  addresses 192.0.2.1 fe80::1\n"));
  EXPECT_EQ(to_json(device)["adapter"],
            json({{"driver", "cxgb4"}, {"port", 1}, {"addresses", {"192.0.2.1", "fe80::1"}}}));
}

TEST(DeviceList, SaysWhatADeviceLacks) {
  ListedDevice device = device_with({});
  device.attributes->rfc7306 = true;
  EXPECT_THAT(to_text(device), testing::ContainsRegex("rfc7306 +yes\n"));
  EXPECT_THAT(to_text(device), testing::ContainsRegex("resizes_cq +no\n"));
  EXPECT_EQ(to_json(device)["features"]["rfc7306"], true);
  EXPECT_EQ(to_json(device)["features"]["sinks_need_remote_write"], false);
}

TEST(DeviceList, DeviceThatCannotBeOpenedHasItsReason) {
  const ListedDevice device = {"outer:one", verbs::fail(std::errc::io_error, "it is\nbroken")};
  EXPECT_EQ(to_text(device), "outer:one\n  it is?broken\n");
  EXPECT_EQ(to_json(device), json({{"name", "outer:one"}, {"error", "it is\nbroken"}}));
}

}  // namespace
}  // namespace iwarp::cli
