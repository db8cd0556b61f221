// A program that loads the library named by its argument, as a plug-in does, registers memory,
// listens, and unloads it again. The library stays, since its threads do. The program's handler of
// SIGSEGV, installed before, ends it with status 0: its faults are its own.
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
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

// The library's threads live on behind it.
bool listen_for_a_moment(void* library) {
  const auto create = function<int(rdma_event_channel*, rdma_cm_id**, void*, rdma_port_space)>(
      library, "rdma_create_id");
  const auto bind = function<int(rdma_cm_id*, sockaddr*)>(library, "rdma_bind_addr");
  const auto listen = function<int(rdma_cm_id*, int)>(library, "rdma_listen");
  const auto destroy = function<int(rdma_cm_id*)>(library, "rdma_destroy_id");
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  rdma_cm_id* id = nullptr;
  return create(nullptr, &id, nullptr, RDMA_PS_TCP) == 0 &&
         bind(id, reinterpret_cast<sockaddr*>(&at)) == 0 && listen(id, 1) == 0 && destroy(id) == 0;
}

std::atomic<int> faults{0};  // from here on it is the program's own

void end_well(int) { std::_Exit(faults == 1 ? 0 : 6); }

std::byte* volatile nowhere = reinterpret_cast<std::byte*>(64);

}  // namespace

int main(int, char** arguments) {
  ::signal(SIGSEGV, end_well);
  void* const library = ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", ::dlerror());
    return 2;
  }
  if (!register_something(library) || !listen_for_a_moment(library)) return 3;
  if (::dlclose(library) != 0) return 4;
  ::usleep(300'000);  // they would run where nothing is any more
  faults = 1;
  *nowhere = std::byte{1};
  return 5;
}
