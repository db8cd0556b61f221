#pragma once

/// Between the provider and the library that plays rdma-core in the tests: this project's own, over
/// sockets. Calls fail when they are told to; and Reads are refused (EACCES) whose sinks permit
/// local writes alone, as with most adapters.
namespace iwarp::rnic::test {

/// How often a call fails before it works again.
inline constexpr unsigned kForEver = ~0U;

/// The next `times` calls of the function of that name fail, with this errno.
void fail_calls(const char* function, int error, unsigned times = kForEver);
/// From now on the function of that name does what it does, and does not return before heal().
void hold_calls(const char* function);
/// The next events of connections of the type `from` come as `to`.
void change_events(int from, int to);
/// The next asynchronous events of the type `from` come as `to`, which is about no object.
void change_async_events(int from, int to);
/// Adapters that are opened from now on say that they are of this vendor.
void be_of_vendor(unsigned id);
/// The most octets of a request that the adapter was given since all worked again and is not to
/// tell of.
unsigned long longest_silent();
/// Whether the adapter completes nothing for now.
void hold_completions(bool held);
/// Calls it with each descriptor that has been handed out since all worked again.
void each_descriptor(void (*tell)(int));
/// Whether this thread is inside of a call of the library behind. Takes memory the first time.
bool is_inside_library();
/// How many objects there are: what has been opened and made, but for memory windows.
long living();
/// Everything works again.
void heal();

/// As long as it lives, calls fail.
struct FailingCalls {
  FailingCalls(const char* function, int error, unsigned times = kForEver) {
    fail_calls(function, error, times);
  }
  ~FailingCalls() { heal(); }
  FailingCalls(const FailingCalls&) = delete;
  FailingCalls& operator=(const FailingCalls&) = delete;
};

}  // namespace iwarp::rnic::test
