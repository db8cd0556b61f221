// The contract's tests over a device that is opened by name.
//
//   provider_contract [--device NAME [--server-device NAME]] [--address ADDRESS]
//                     [--pause MILLISECONDS] [--with NAME]... [--without NAME]...
//
// Besides come GoogleTest's own arguments. --with and --without name capabilities that the device
// has, or has not, unlike what its attributes tell. --pause is for peers that lose what comes right
// behind the start-up, as siw of Linux 6.1 does.
#include <gtest/gtest.h>

#include <iostream>
#include <stdexcept>
#include <string_view>

#include "verbs/contract/device_world.hpp"
#include "verbs/loopback_pair.hpp"

namespace iwarp::verbs::contract {
namespace {

DeviceChoice& choice() {
  static DeviceChoice chosen;
  return chosen;
}

Capability require_capability(std::string_view name) {
  if (const auto one = capability_named(name)) return *one;
  throw std::runtime_error("no capability is called '" + std::string(name) + "'");
}

void take(std::string_view option, std::string_view value) {
  DeviceChoice& chosen = choice();
  if (option == "--device") {
    chosen.name = value;
  } else if (option == "--server-device") {
    chosen.server_name = value;
  } else if (option == "--address") {
    chosen.address = test::must(Address::parse(value));
  } else if (option == "--pause") {
    chosen.pause = std::chrono::milliseconds(std::stoi(std::string(value)));
  } else if (option == "--with") {
    chosen.more = chosen.more | require_capability(value);
  } else if (option == "--without") {
    chosen.fewer = chosen.fewer | require_capability(value);
  } else {
    throw std::runtime_error("no option is called '" + std::string(option) + "'");
  }
}

// Leaves what begins with --gtest_ to GoogleTest.
void take_arguments(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option.starts_with("--gtest_")) continue;
    if (i + 1 == argc) throw std::runtime_error("a value is missing behind " + std::string(option));
    take(option, argv[++i]);
  }
}

}  // namespace

std::vector<WorldMaker> worlds() {
  return {{.name = "Device", .make = [] { return make_device_world(choice()); }}};
}

}  // namespace iwarp::verbs::contract

int main(int argc, char** argv) {
  try {
    iwarp::verbs::contract::take_arguments(argc, argv);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
  } catch (const std::exception& error) {
    std::cerr << "provider_contract: " << error.what() << '\n';
    return 2;
  }
}
