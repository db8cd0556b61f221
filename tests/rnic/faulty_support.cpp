#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "faulty_rdma_core.hpp"

namespace iwarp::rnic::test {
namespace {

constexpr const char* kFolder = IWARP_FAULTY_RDMA_CORE;

/// Before the first test: the provider loads it as if it were the system's.
class ChosenFolder final : public testing::Environment {
 public:
  void SetUp() override { ::setenv("IWARP_RDMA_CORE", kFolder, 1); }
};
const auto* const kChosen = testing::AddGlobalTestEnvironment(new ChosenFolder);

template <typename Function>
Function find(const char* name) {
  static void* const library =
      ::dlopen((std::string(kFolder) + "/libibverbs.so.1").c_str(), RTLD_NOW);
  return reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

void fail_calls(const char* function, int error, unsigned times) {
  find<void (*)(const char*, int, unsigned)>("iwarp_test_fail_calls")(function, error, times);
}

void hold_calls(const char* function) {
  find<void (*)(const char*)>("iwarp_test_hold_calls")(function);
}

void change_events(int from, int to) {
  find<void (*)(int, int)>("iwarp_test_change_events")(from, to);
}

void change_async_events(int from, int to) {
  find<void (*)(int, int)>("iwarp_test_change_async_events")(from, to);
}

void be_of_vendor(unsigned id) { find<void (*)(std::uint32_t)>("iwarp_test_be_of_vendor")(id); }

unsigned long longest_silent() { return find<std::uint64_t (*)()>("iwarp_test_longest_silent")(); }

void hold_completions(bool held) { find<void (*)(int)>("iwarp_test_hold_completions")(held); }

void each_descriptor(void (*tell)(int)) {
  find<void (*)(void (*)(int))>("iwarp_test_each_descriptor")(tell);
}

bool is_inside_library() {
  static const auto asked = find<int (*)()>("iwarp_test_inside");
  return asked() != 0;
}

long living() { return find<long (*)()>("iwarp_test_living")(); }

void heal() { find<void (*)()>("iwarp_test_heal")(); }

}  // namespace iwarp::rnic::test
