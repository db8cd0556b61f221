#include "iwarp/process/memory_faults.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>

#include "iwarp/base/guarded_access.hpp"

// Everything below on_memory_fault() runs inside a handler: no lock, no allocation, and nothing
// that a destructor at the end of the process could have taken away.
namespace iwarp::process {
namespace {

// What was installed when this handler took its place, oldest first. Entries do not change.
struct ReplacedActions {
  struct Entry {
    struct sigaction action;
    std::atomic<bool> spent;  // SA_RESETHAND: it has had its one signal
  };
  // A program that goes on changing its handlers is to have the last word.
  static constexpr std::size_t kMost = 16;

  [[nodiscard]] bool add(const struct sigaction& action);
  [[nodiscard]] Entry* from_newest(std::size_t index);

  std::array<Entry, kMost> entries{};
  std::atomic<std::size_t> count{0};
};

constexpr std::array kSignals{SIGSEGV, SIGBUS};
constinit std::array<ReplacedActions, kSignals.size()> replaced_actions{};
constinit std::mutex install_mutex;

ReplacedActions& replaced_by_handler_of(int signal) {
  return replaced_actions[signal == SIGSEGV ? 0 : 1];
}

// A signal on its way to a handler of the program, which may call this one again as the one that it
// replaced. Then it is the next older one's turn. The nested call has the context of the first one
// and a frame below its frame; a handler that has left by a jump leaves no such frame behind.
struct PassingOn {
  const void* context;
  const void* frame;
  std::size_t index;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local PassingOn passing_on{};

bool same_action(const struct sigaction& a, const struct sigaction& b) {
  return a.sa_sigaction == b.sa_sigaction && a.sa_flags == b.sa_flags;
}

bool ReplacedActions::add(const struct sigaction& action) {
  const std::size_t known = count.load(std::memory_order_relaxed);
  if (known != 0 && same_action(entries[known - 1].action, action)) {
    entries[known - 1].spent.store(false);
    return true;
  }
  if (known == kMost) return false;
  entries[known].action = action;
  count.store(known + 1, std::memory_order_release);
  return true;
}

ReplacedActions::Entry* ReplacedActions::from_newest(std::size_t index) {
  const std::size_t known = count.load(std::memory_order_acquire);
  return index < known ? &entries[known - 1 - index] : nullptr;
}

// Whether an instruction of this thread has raised the signal: only then does it say where, and
// only then does it come again if nothing is done about it.
bool raised_here(int signal, const siginfo_t& info) {
  return info.si_code > 0 && !(signal == SIGBUS && info.si_code == BUS_MCEERR_AO);
}

// Lets the thread go on where __builtin_setjmp() returns for the second time. The handler returns
// by the way of the system, which gives the thread back its signal mask and its stack.
#if defined(__x86_64__) && !defined(__CET__)
void resume(AccessGuard& guard, ucontext_t& context) {
  constexpr greg_t kDirectionFlag = 0x400;  // a copy may run downwards
  void* const* const point = guard.resume_point();
  greg_t* const registers = context.uc_mcontext.gregs;
  registers[REG_RBP] = reinterpret_cast<greg_t>(point[0]);
  registers[REG_RIP] = reinterpret_cast<greg_t>(point[1]);
  registers[REG_RSP] = reinterpret_cast<greg_t>(point[2]);
  registers[REG_EFL] &= ~kDirectionFlag;
}
#else
// The compiler knows how: of other processors, and of shadow stacks. The mask may be that of a
// handler of the program which has called this one.
void resume(AccessGuard& guard, ucontext_t& context) {
  pthread_sigmask(SIG_SETMASK, &context.uc_sigmask, nullptr);
  __builtin_longjmp(guard.resume_point(), 1);
}
#endif

bool recover(int signal, const siginfo_t& info, ucontext_t& context) {
  AccessGuard* const guard = AccessGuard::current();
  if (guard == nullptr || !raised_here(signal, info) || !guard->covers(info.si_addr)) return false;
  guard->fail(info.si_addr);
  resume(*guard, context);
  return true;
}

// The access is made once more, so that the process ends there. A signal that was sent would not
// come again.
void act_by_default(int signal, bool here) {
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  ::sigaction(signal, &usual, nullptr);
  if (!here) ::raise(signal);
}

// As the system would call it.
void call(const struct sigaction& action, int signal, siginfo_t* info, void* context) {
  sigset_t blocked = action.sa_mask;
  if ((action.sa_flags & SA_NODEFER) == 0) sigaddset(&blocked, signal);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void act(ReplacedActions::Entry* entry, int signal, siginfo_t* info, void* context) {
  const bool here = raised_here(signal, *info);
  if (entry == nullptr || entry->action.sa_handler == SIG_DFL) return act_by_default(signal, here);
  if (entry->action.sa_handler == SIG_IGN) {
    if (here) act_by_default(signal, here);
    return;
  }
  const bool once = (static_cast<unsigned>(entry->action.sa_flags) & SA_RESETHAND) != 0;
  if (once && entry->spent.exchange(true)) return act_by_default(signal, here);
  call(entry->action, signal, info, context);
}

[[gnu::noinline]] void pass_on(int signal, siginfo_t* info, void* context) {
  const PassingOn before = passing_on;
  const void* const frame = __builtin_frame_address(0);
  const bool again = context == before.context && frame < before.frame;
  passing_on =
      again ? PassingOn{context, before.frame, before.index + 1} : PassingOn{context, frame, 0};
  act(replaced_by_handler_of(signal).from_newest(passing_on.index), signal, info, context);
  passing_on = before;
}

void on_memory_fault(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  if (!recover(signal, *info, *static_cast<ucontext_t*>(context))) pass_on(signal, info, context);
  errno = error;
}

// On the alternate stack, if the thread has one: a program that handles the overflow of its stack
// is served, too. Whether a signal that is sent interrupts a system call stays as it was.
struct sigaction our_action(const struct sigaction& replaced) {
  struct sigaction action {};
  action.sa_sigaction = on_memory_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | (replaced.sa_flags & SA_RESTART);
  return action;
}

bool is_ours(const struct sigaction& action) { return action.sa_sigaction == on_memory_fault; }

// Known as replaced before it is, so that no signal misses it.
void install(int signal) {
  struct sigaction known {};
  if (::sigaction(signal, nullptr, &known) != 0 || is_ours(known)) return;
  ReplacedActions& replaced = replaced_by_handler_of(signal);
  if (!replaced.add(known)) return;
  const struct sigaction ours = our_action(known);
  struct sigaction was {};
  ::sigaction(signal, &ours, &was);
  if (!is_ours(was) && !same_action(was, known)) static_cast<void>(replaced.add(was));
}

// The process is never to be left with a handler whose code has been unloaded.
void stay_loaded() {
  Dl_info where{};
  if (::dladdr(reinterpret_cast<const void*>(&on_memory_fault), &where) == 0) return;
  static_cast<void>(::dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
}

// A child that registers memory of its own must not find the lock of a thread that it has not.
void stay_unlocked_in_children() {
  const auto unlock = [] { install_mutex.unlock(); };
  ::pthread_atfork([] { install_mutex.lock(); }, unlock, unlock);
}

}  // namespace

void catch_memory_faults() {
  static std::once_flag prepared;
  std::call_once(prepared, [] {
    stay_loaded();
    stay_unlocked_in_children();
  });
  const std::lock_guard lock(install_mutex);
  for (const int signal : kSignals) install(signal);
}

void admit_memory_faults() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kSignals) sigaddset(&signals, signal);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace iwarp::process
