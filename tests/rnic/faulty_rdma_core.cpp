// A library that stands for libibverbs.so.1 and librdmacm.so.1 alike. Of what is not defined here
// the dynamic linker finds that of the library behind it.
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace {

struct Fault {
  int error = 0;
  unsigned times = 0;
};

std::mutex mutex;
std::map<std::string, Fault, std::less<>> faults;  // looked into without memory
std::set<std::string, std::less<>> held_calls;
std::condition_variable let_go;
std::map<int, int> changed_events;
std::map<int, int> changed_async_events;
thread_local ibv_async_event as_it_came{};  // of the last one that was changed
std::set<int> descriptors;
std::set<std::uint32_t> closed_to_peers;  // lkeys of memory where the peer may not write
// Those of the library behind.
decltype(ibv_context_ops::post_send) post_send = nullptr;
std::atomic<decltype(ibv_context_ops::poll_cq)> poll_cq = nullptr;
std::atomic<std::uint32_t> vendor{0};  // which the adapter says that it is of; 0: the real one
std::atomic<std::uint64_t> longest_silent{0};
std::atomic<bool> holds_completions{false};
std::atomic<long> living{0};
thread_local int inside = 0;      // calls of the library behind, of this thread
thread_local bool opens = false;  // what the library behind keeps for good is not counted

// The errno with which this call fails; 0 if it is to work.
int fault_of(std::string_view function) {
  const std::lock_guard lock(mutex);
  const auto found = faults.find(function);
  if (found == faults.end() || found->second.times == 0) return 0;
  if (found->second.times != ~0U) --found->second.times;
  return found->second.error;
}

struct Inside {
  Inside() { ++inside; }
  ~Inside() { --inside; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

/// A call of the library behind.
template <typename Function>
class Next {
 public:
  explicit Next(const char* name)
      : function_(reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name))) {}
  template <typename... Args>
  auto operator()(Args... args) const {
    const Inside here;
    return function_(args...);
  }

 private:
  const Function function_;
};

template <typename Function>
Next<Function> next(const char* name) {
  return Next<Function>(name);
}

// As the call of that name does, or fails with `failed`.
template <typename Function, typename Result, typename... Args>
Result forward(const char* name, Function function, Result failed, Args... args) {
  if (const int error = fault_of(name)) {
    errno = error;
    return failed;
  }
  const Result result = function(args...);
  const int error = errno;
  std::unique_lock lock(mutex);
  let_go.wait(lock, [name] { return !held_calls.contains(std::string_view(name)); });
  errno = error;
  return result;
}

template <typename Made>
Made* counted(Made* made) {
  if (made != nullptr && !opens) ++living;
  return made;
}

// Notes a descriptor that has been handed out.
void note(int descriptor) {
  const Inside here;
  const std::lock_guard lock(mutex);
  if (descriptor >= 0) descriptors.insert(descriptor);
}

// It looks at a Read Response as at a Write, as most adapters do: where the peer may not write,
// none is placed (DeviceAttributes::read_sink).
bool places_responses(const ibv_send_wr& read) {
  const std::lock_guard lock(mutex);
  return std::none_of(read.sg_list, read.sg_list + read.num_sge,
                      [](const ibv_sge& sink) { return closed_to_peers.contains(sink.lkey); });
}
void note_if_silent(const ibv_send_wr& request) {
  if ((request.send_flags & IBV_SEND_SIGNALED) != 0 || request.opcode == IBV_WR_RDMA_READ) return;
  std::uint64_t octets = 0;
  for (int at = 0; at < request.num_sge; ++at) octets += request.sg_list[at].length;
  if (octets > longest_silent) longest_silent = octets;
}
int post_strictly(ibv_qp* qp, ibv_send_wr* first, ibv_send_wr** refused) {
  for (ibv_send_wr* request = first; request != nullptr; request = request->next) {
    note_if_silent(*request);
    if (request->opcode != IBV_WR_RDMA_READ || places_responses(*request)) continue;
    *refused = first;
    return EACCES;
  }
  return post_send(qp, first, refused);
}
int poll_unless_held(ibv_cq* cq, int most, ibv_wc* into) {
  return holds_completions ? 0 : poll_cq.load()(cq, most, into);
}

// What a call that ends an object has answered.
int counted_end(int answer) {
  if (answer == 0) --living;
  return answer;
}

}  // namespace

#define IWARP_FORWARD(failed, name, ...) \
  forward(#name, next<decltype(&::name)>(#name), failed, __VA_ARGS__)
#define IWARP_NEXT(name, ...) next<decltype(&::name)>(#name)(__VA_ARGS__)

extern "C" {

__attribute__((visibility("default"))) void iwarp_test_fail_calls(const char* function, int error,
                                                                  unsigned times) {
  const std::lock_guard lock(mutex);
  faults[function] = {error, times};
}
__attribute__((visibility("default"))) void iwarp_test_hold_calls(const char* function) {
  const std::lock_guard lock(mutex);
  held_calls.insert(function);
}
__attribute__((visibility("default"))) void iwarp_test_change_events(int from, int to) {
  const std::lock_guard lock(mutex);
  changed_events[from] = to;
}
__attribute__((visibility("default"))) void iwarp_test_change_async_events(int from, int to) {
  const std::lock_guard lock(mutex);
  changed_async_events[from] = to;
}
__attribute__((visibility("default"))) void iwarp_test_be_of_vendor(std::uint32_t id) {
  vendor = id;
}
__attribute__((visibility("default"))) std::uint64_t iwarp_test_longest_silent() {
  return longest_silent;
}
__attribute__((visibility("default"))) void iwarp_test_hold_completions(int held) {
  holds_completions = held != 0;
}
__attribute__((visibility("default"))) void iwarp_test_heal() {
  const std::lock_guard lock(mutex);
  faults.clear();
  changed_events.clear();
  held_calls.clear();
  let_go.notify_all();
  changed_async_events.clear();
  descriptors.clear();
  vendor = 0;
  longest_silent = 0;
  holds_completions = false;
}

__attribute__((visibility("default"))) void iwarp_test_each_descriptor(void (*tell)(int)) {
  for (const int each : descriptors) tell(each);
}
__attribute__((visibility("default"))) int iwarp_test_inside() { return inside; }
__attribute__((visibility("default"))) long iwarp_test_living() { return living.load(); }

ibv_context* ibv_open_device(ibv_device* device) {
  return IWARP_FORWARD(static_cast<ibv_context*>(nullptr), ibv_open_device, device);
}
int ibv_query_device(ibv_context* context, ibv_device_attr* attributes) {
  if (const int error = fault_of("ibv_query_device")) return error;
  const int error = next<decltype(&::ibv_query_device)>("ibv_query_device")(context, attributes);
  if (vendor != 0) attributes->vendor_id = vendor;
  return error;
}
ibv_pd* ibv_alloc_pd(ibv_context* context) {
  return counted(IWARP_FORWARD(static_cast<ibv_pd*>(nullptr), ibv_alloc_pd, context));
}
ibv_mr*(ibv_reg_mr)(ibv_pd* pd, void* address, std::size_t length, int access) {
  auto* const made = counted(
      IWARP_FORWARD(static_cast<ibv_mr*>(nullptr), ibv_reg_mr, pd, address, length, access));
  const bool is_sink =
      (access & (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)) == IBV_ACCESS_LOCAL_WRITE;
  if (made == nullptr || !is_sink) return made;
  const Inside here;
  const std::lock_guard lock(mutex);
  closed_to_peers.insert(made->lkey);
  return made;
}
ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  auto* const made = counted(
      IWARP_FORWARD(static_cast<ibv_comp_channel*>(nullptr), ibv_create_comp_channel, context));
  note(made == nullptr ? -1 : made->fd);
  return made;
}
ibv_cq* ibv_create_cq(ibv_context* context, int depth, void* own, ibv_comp_channel* channel,
                      int vector) {
  auto* const made = counted(IWARP_FORWARD(static_cast<ibv_cq*>(nullptr), ibv_create_cq, context,
                                           depth, own, channel, vector));
  if (made == nullptr) return made;
  const std::lock_guard lock(mutex);
  if (made->context->ops.poll_cq != poll_unless_held) {
    poll_cq = std::exchange(made->context->ops.poll_cq, poll_unless_held);
  }
  return made;
}
ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* init) {
  return counted(IWARP_FORWARD(static_cast<ibv_srq*>(nullptr), ibv_create_srq, pd, init));
}
ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* init) {
  auto* const made = counted(IWARP_FORWARD(static_cast<ibv_qp*>(nullptr), ibv_create_qp, pd, init));
  if (made == nullptr) return made;
  const std::lock_guard lock(mutex);
  if (made->context->ops.post_send != post_strictly) {
    post_send = std::exchange(made->context->ops.post_send, post_strictly);
  }
  return made;
}
int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int which) {
  const int error = fault_of("ibv_modify_qp");
  return error != 0 ? error
                    : next<decltype(&::ibv_modify_qp)>("ibv_modify_qp")(qp, attributes, which);
}
ibv_context** rdma_get_devices(int* count) {
  opens = true;
  auto* const list = IWARP_FORWARD(static_cast<ibv_context**>(nullptr), rdma_get_devices, count);
  opens = false;
  for (int at = 0; list != nullptr && list[at] != nullptr; ++at) {
    if (list[at]->device->name == std::string("iwarp0")) note(list[at]->async_fd);
  }
  return counted(list);
}
rdma_event_channel* rdma_create_event_channel() {
  if (const int error = fault_of("rdma_create_event_channel")) {
    errno = error;
    return nullptr;
  }
  auto* const made = counted(IWARP_NEXT(rdma_create_event_channel));
  note(made == nullptr ? -1 : made->fd);
  return made;
}
int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* own, rdma_port_space space) {
  const int answer = IWARP_FORWARD(-1, rdma_create_id, channel, id, own, space);
  if (answer == 0) ++living;
  return answer;
}
int rdma_resolve_addr(rdma_cm_id* id, sockaddr* from, sockaddr* to, int milliseconds) {
  return IWARP_FORWARD(-1, rdma_resolve_addr, id, from, to, milliseconds);
}
int rdma_resolve_route(rdma_cm_id* id, int milliseconds) {
  return IWARP_FORWARD(-1, rdma_resolve_route, id, milliseconds);
}
int rdma_connect(rdma_cm_id* id, rdma_conn_param* parameters) {
  return IWARP_FORWARD(-1, rdma_connect, id, parameters);
}
int rdma_accept(rdma_cm_id* id, rdma_conn_param* parameters) {
  return IWARP_FORWARD(-1, rdma_accept, id, parameters);
}
int rdma_bind_addr(rdma_cm_id* id, sockaddr* at) {
  return IWARP_FORWARD(-1, rdma_bind_addr, id, at);
}
int rdma_listen(rdma_cm_id* id, int backlog) { return IWARP_FORWARD(-1, rdma_listen, id, backlog); }
int rdma_reject(rdma_cm_id* id, const void* data, std::uint8_t octets) {
  return IWARP_FORWARD(-1, rdma_reject, id, data, octets);
}
int rdma_set_option(rdma_cm_id* id, int level, int option, void* value, std::size_t octets) {
  return IWARP_FORWARD(-1, rdma_set_option, id, level, option, value, octets);
}
ibv_device** ibv_get_device_list(int* count) {
  return IWARP_FORWARD(static_cast<ibv_device**>(nullptr), ibv_get_device_list, count);
}
int ibv_resize_cq(ibv_cq* cq, int depth) { return IWARP_NEXT(ibv_resize_cq, cq, depth); }
int rdma_disconnect(rdma_cm_id* id) { return IWARP_FORWARD(-1, rdma_disconnect, id); }
int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  const int got = next<decltype(&::rdma_get_cm_event)>("rdma_get_cm_event")(channel, event);
  if (got != 0) return got;
  if ((*event)->event == RDMA_CM_EVENT_CONNECT_REQUEST) ++living;  // an identifier comes with it
  const std::lock_guard lock(mutex);
  const auto changed = changed_events.find((*event)->event);
  if (changed != changed_events.end()) {
    (*event)->event = static_cast<rdma_cm_event_type>(changed->second);
  }
  return got;
}

// One thread takes an event and acknowledges it before it takes the next.
int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  const int got = IWARP_NEXT(ibv_get_async_event, context, event);
  if (got != 0) return got;
  as_it_came = *event;
  const std::lock_guard lock(mutex);
  const auto changed = changed_async_events.find(event->event_type);
  if (changed == changed_async_events.end()) return got;
  event->event_type = static_cast<ibv_event_type>(changed->second);
  event->element.port_num = 1;
  return got;
}
void ibv_ack_async_event(ibv_async_event* /*event*/) {
  IWARP_NEXT(ibv_ack_async_event, &as_it_came);
}

// What ends is not counted any more.
int ibv_dealloc_pd(ibv_pd* pd) { return counted_end(IWARP_NEXT(ibv_dealloc_pd, pd)); }
int ibv_dereg_mr(ibv_mr* mr) {
  {
    const Inside here;
    const std::lock_guard lock(mutex);
    closed_to_peers.erase(mr->lkey);
  }
  return counted_end(IWARP_NEXT(ibv_dereg_mr, mr));
}
int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  return counted_end(IWARP_NEXT(ibv_destroy_comp_channel, channel));
}
int ibv_destroy_cq(ibv_cq* cq) { return counted_end(IWARP_NEXT(ibv_destroy_cq, cq)); }
int ibv_destroy_srq(ibv_srq* srq) { return counted_end(IWARP_NEXT(ibv_destroy_srq, srq)); }
int ibv_destroy_qp(ibv_qp* qp) { return counted_end(IWARP_NEXT(ibv_destroy_qp, qp)); }
int rdma_destroy_id(rdma_cm_id* id) { return counted_end(IWARP_NEXT(rdma_destroy_id, id)); }
void rdma_free_devices(ibv_context** list) {
  IWARP_NEXT(rdma_free_devices, list);
  counted_end(0);
}
void rdma_destroy_event_channel(rdma_event_channel* channel) {
  IWARP_NEXT(rdma_destroy_event_channel, channel);
  counted_end(0);
}

}  // extern "C"
