// A program that loads the library named by its argument, registers memory and unloads it again.
// Its handler of SIGSEGV, installed before, ends it with status 0.
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <signal.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace {

template <typename Function>
Function* function(void* library, const char* name) {
  void* const found = ::dlsym(library, name);
  if (found == nullptr) std::fprintf(stderr, "%s\n", ::dlerror());
  return reinterpret_cast<Function*>(found);
}

bool register_something(void* library) {
  const auto get_list = function<ibv_device**(int*)>(library, "ibv_get_device_list");
  const auto free_list = function<void(ibv_device**)>(library, "ibv_free_device_list");
  const auto open = function<ibv_context*(ibv_device*)>(library, "ibv_open_device");
  const auto close = function<int(ibv_context*)>(library, "ibv_close_device");
  const auto alloc = function<ibv_pd*(ibv_context*)>(library, "ibv_alloc_pd");
  const auto dealloc = function<int(ibv_pd*)>(library, "ibv_dealloc_pd");
  const auto reg = function<ibv_mr*(ibv_pd*, void*, std::size_t, int)>(library, "ibv_reg_mr");
  const auto dereg = function<int(ibv_mr*)>(library, "ibv_dereg_mr");

  ibv_device** const devices = get_list(nullptr);
  if (devices == nullptr || devices[0] == nullptr) return false;
  ibv_context* const context = open(devices[0]);
  ibv_pd* const pd = alloc(context);
  std::array<char, 64> memory{};
  ibv_mr* const mr = reg(pd, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE);
  const bool done = mr != nullptr && dereg(mr) == 0 && dealloc(pd) == 0 && close(context) == 0;
  free_list(devices);
  return done;
}

void end_well(int) { std::_Exit(0); }

std::byte* volatile nowhere = reinterpret_cast<std::byte*>(64);

}  // namespace

int main(int, char** arguments) {
  ::signal(SIGSEGV, end_well);
  void* const library = ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    return 2;
  }
  if (!register_something(library)) return 3;
  if (::dlclose(library) != 0) return 4;
  *nowhere = std::byte{1};
  return 5;
}
