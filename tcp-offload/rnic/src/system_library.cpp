#include "system_library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

namespace iwarp::rnic {
namespace {

using verbs::Outcome;

// Only this project's libraries of rdma-core's names have it.
constexpr const char* kOwnMark = "iwarp_rppoll";

std::string last_error() {
  const char* said = ::dlerror();
  return said == nullptr ? "no reason was given" : said;
}

verbs::Error cannot_be_loaded(const std::string& file, const std::string& why) {
  return {std::make_error_code(std::errc::no_such_file_or_directory),
          file + " of rdma-core cannot be loaded (" + why +
              "): install rdma-core's libraries, on Debian libibverbs1, librdmacm1 and "
              "ibverbs-providers"};
}

Outcome<void*> load(const std::string& file, const std::string& path) {
  void* const loaded = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (loaded != nullptr) return loaded;
  return failure(cannot_be_loaded(file, last_error()));
}

// Without loading it, as that cannot be undone.
bool is_own(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content(std::istreambuf_iterator<char>(file), {});
  return content.find(kOwnMark) != std::string::npos;
}

// Where the dynamic linker looks, in its order, but for its cache.
std::vector<std::string> linker_folders() {
  std::vector<std::string> folders;
  Dl_serinfo size{};
  void* const self = ::dlopen(nullptr, RTLD_LAZY);
  if (self == nullptr || ::dlinfo(self, RTLD_DI_SERINFOSIZE, &size) != 0) return folders;
  const std::unique_ptr<void, decltype(&std::free)> memory(std::malloc(size.dls_size), &std::free);
  if (!memory) return folders;
  auto* const paths = static_cast<Dl_serinfo*>(memory.get());
  *paths = size;
  if (::dlinfo(self, RTLD_DI_SERINFO, paths) != 0) return folders;
  for (unsigned at = 0; at < paths->dls_cnt; ++at) {
    folders.emplace_back(paths->dls_serpath[at].dls_name);
  }
  return folders;
}

Outcome<void*> load_first_that_is_not_own(const std::string& file) {
  bool passed_own = false;
  for (const std::string& folder : linker_folders()) {
    const std::string path = folder + "/" + file;
    if (::access(path.c_str(), R_OK) != 0) continue;
    if (!is_own(path)) return load(file, path);
    passed_own = true;
  }
  // The linker's cache may know of more folders.
  if (!passed_own) return load(file, file);
  return failure(cannot_be_loaded(file, "there is none but iwarp's own"));
}

}  // namespace

Outcome<void*> load_system_library(const std::string& file) {
  if (const char* chosen = ::secure_getenv(kChosenFolder)) {
    return load(file, std::string(chosen) + "/" + file);
  }
  void* const loaded = ::dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (loaded == nullptr) return load_first_that_is_not_own(file);
  if (::dlsym(loaded, kOwnMark) == nullptr) return loaded;
  ::dlclose(loaded);
  return verbs::fail(std::errc::device_or_resource_busy,
                     "this process uses iwarp's own " + file +
                         ", as under `iwarp run`; a program that is to use an adapter by rdma-core "
                         "runs without it");
}

}  // namespace iwarp::rnic
