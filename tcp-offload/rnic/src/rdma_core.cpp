#include "rdma_core.hpp"

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "system_library.hpp"

namespace iwarp::rnic {
namespace {

template <typename Function>
bool find(void* library, const char* name, Function& into, std::string& missing) {
  into = reinterpret_cast<Function>(::dlsym(library, name));
  if (into == nullptr && missing.empty()) missing = name;
  return into != nullptr;
}

verbs::Outcome<std::unique_ptr<RdmaCore>> load_anew() {
  const auto verbs_library = load_system_library("libibverbs.so.1");
  if (!verbs_library) return failure(verbs_library.error());
  // Behind libibverbs, which it needs: the one that is loaded is the one it gets.
  const auto cm_library = load_system_library("librdmacm.so.1");
  if (!cm_library) return failure(cm_library.error());
  auto core = std::make_unique<RdmaCore>();
  std::string missing;
#define IWARP_RNIC_FIND_VERB(name) find(*verbs_library, #name, core->name, missing);
#define IWARP_RNIC_FIND_CM(name) find(*cm_library, #name, core->name, missing);
  IWARP_RNIC_VERBS(IWARP_RNIC_FIND_VERB)
  IWARP_RNIC_CM(IWARP_RNIC_FIND_CM)
#undef IWARP_RNIC_FIND_VERB
#undef IWARP_RNIC_FIND_CM
  if (missing.empty()) return core;
  return verbs::fail(
      std::errc::no_such_file_or_directory,
      "rdma-core is too old: it has no " + missing + "; version 17 or later is needed");
}

}  // namespace

int errno_of_post(int returned) {
  const int error = returned == -1 ? errno : std::abs(returned);
  return returned != 0 && error == 0 ? EIO : error;
}

// What failed is tried anew: the program may install what is missing.
verbs::Outcome<const RdmaCore*> RdmaCore::load() {
  static std::mutex mutex;
  static const RdmaCore* loaded = nullptr;  // for good: threads may outlive what exit() destroys
  const std::lock_guard lock(mutex);
  if (loaded != nullptr) return loaded;
  auto core = load_anew();
  if (!core) return failure(core.error());
  loaded = core->release();
  return loaded;
}

}  // namespace iwarp::rnic
