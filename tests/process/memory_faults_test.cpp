#include "iwarp/process/memory_faults.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include <csetjmp>
#include <cstdlib>
#include <thread>
#include <vector>

#include "iwarp/base/guarded_access.hpp"
#include "support/vanishing_memory.hpp"

namespace iwarp::process {
namespace {

using iwarp::test::kLosses;
using iwarp::test::Loss;
using iwarp::test::name_of;
using iwarp::test::VanishingMemory;

// In the first page, where nothing ever is; the compiler is not to judge it.
std::byte* volatile nowhere = reinterpret_cast<std::byte*>(64);

void fault_of_the_program() { *nowhere = std::byte{1}; }

MemoryFault write_to(MutableBytes memory) {
  return guarded(memory, [memory] { std::memset(memory.data(), 7, memory.size()); });
}

MemoryFault read_from(ConstBytes memory) {
  static std::vector<std::byte> copy(1 << 20U);
  return guarded_copy(copy.data(), memory);
}

class MemoryFaults : public testing::Test {
 protected:
  MemoryFaults() { catch_memory_faults(); }
  VanishingMemory memory{4};
};

TEST_F(MemoryFaults, AccessToMemoryThatIsThereSucceeds) {
  EXPECT_FALSE(write_to(memory.bytes()));
  EXPECT_FALSE(read_from(memory.bytes()));
  EXPECT_EQ(memory.bytes().back(), std::byte{7});
}

TEST_F(MemoryFaults, AccessToMemoryThatIsGoneFailsAndTellsWhere) {
  for (const Loss loss : kLosses) {
    SCOPED_TRACE(name_of(loss));
    memory.give_back();
    memory.lose(loss);
    const auto written = write_to(memory.bytes());
    ASSERT_TRUE(written);
    EXPECT_EQ(written.address(), memory.data());
    EXPECT_EQ(static_cast<bool>(read_from(memory.bytes())), loss != Loss::kReadOnly);
  }
}

TEST_F(MemoryFaults, FaultInALaterPageIsFoundThere) {
  const std::size_t page = VanishingMemory::page();
  for (const Loss loss : {Loss::kUnmapped, Loss::kNoAccess, Loss::kTruncated}) {
    for (std::size_t lost = 1; lost < 4; ++lost) {
      SCOPED_TRACE(name_of(loss));
      memory.give_back();
      memory.lose(loss, lost);
      const ConstBytes all = memory.bytes();
      const auto read = read_from(all.subspan(5));
      ASSERT_TRUE(read);
      EXPECT_EQ(static_cast<const std::byte*>(read.address()), memory.data() + lost * page);
      EXPECT_FALSE(read_from(all.first(lost * page)));
    }
  }
}

TEST_F(MemoryFaults, MaySucceedAndFailAnyNumberOfTimesInEachThread) {
  const auto alternate = [] {
    const VanishingMemory own(1);
    for (int i = 0; i < 300; ++i) {
      own.lose(Loss::kNoAccess);
      if (!write_to(own.bytes())) return false;
      own.give_back();
      if (write_to(own.bytes())) return false;
    }
    return true;
  };
  bool well[3] = {};
  std::vector<std::thread> threads;
  for (bool& each : well) threads.emplace_back([&each, &alternate] { each = alternate(); });
  for (std::thread& thread : threads) thread.join();
  for (const bool each : well) EXPECT_TRUE(each);
}

TEST_F(MemoryFaults, SignalMaskIsAsBefore) {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  memory.lose(Loss::kUnmapped);
  ASSERT_TRUE(write_to(memory.bytes()));
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal)) << signal;
  }
}

TEST_F(MemoryFaults, ThreadThatBlockedTheSignalsLetsThemIn) {
  memory.lose(Loss::kUnmapped);
  bool failed = false;
  std::thread([&] {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    admit_memory_faults();
    failed = static_cast<bool>(write_to(memory.bytes()));
  }).join();
  EXPECT_TRUE(failed);
}

// ---- What is none of ours ----

// In a child each: handlers belong to the process.
class MemoryFaultsDeathTest : public MemoryFaults {
 protected:
  MemoryFaultsDeathTest() { testing::FLAGS_gtest_death_test_style = "threadsafe"; }
};

constexpr int kEarlier = 41;
constexpr int kLater = 42;
constexpr int kAnother = 43;

void set_handler(int signal, void (*handler)(int), int flags = 0) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(signal, &action, nullptr);
}

void exit_earlier(int) { std::_Exit(kEarlier); }
void exit_later(int) { std::_Exit(kLater); }

// Death by the signal itself: sanitizers have handlers of their own.
void expect_default() {
  set_handler(SIGSEGV, SIG_DFL);
  set_handler(SIGBUS, SIG_DFL);
  catch_memory_faults();
}

TEST_F(MemoryFaultsDeathTest, FaultOutsideAGuardedAccessEndsTheProcessAsUsual) {
  const auto run = [] {
    expect_default();
    fault_of_the_program();
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(MemoryFaultsDeathTest, BusErrorOutsideAGuardedAccessEndsTheProcessAsUsual) {
  const auto run = [this] {
    expect_default();
    memory.lose(Loss::kTruncated);
    memory.bytes()[0] = std::byte{1};
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGBUS), "");
}

// Inside of one, but at memory that it does not name: that is a fault of ours.
TEST_F(MemoryFaultsDeathTest, FaultOfAGuardedAccessElsewhereEndsTheProcess) {
  const auto run = [this] {
    expect_default();
    static_cast<void>(guarded(memory.bytes(), [] { fault_of_the_program(); }));
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(MemoryFaultsDeathTest, SignalThatIsSentIsTakenAsUsual) {
  const auto run = [] {
    expect_default();
    ::raise(SIGSEGV);
    std::_Exit(0);
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(MemoryFaultsDeathTest, SignalThatIsSentIsIgnoredIfTheProgramSaidSo) {
  const auto run = [] {
    set_handler(SIGSEGV, SIG_IGN);
    catch_memory_faults();
    ::raise(SIGSEGV);
    std::_Exit(kAnother);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(kAnother), "");
}

TEST_F(MemoryFaultsDeathTest, FaultThatIsIgnoredEndsTheProcess) {
  const auto run = [] {
    set_handler(SIGSEGV, SIG_IGN);
    catch_memory_faults();
    fault_of_the_program();
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(MemoryFaultsDeathTest, EarlierHandlerGetsTheProgramsFaultsAndOnlyThose) {
  const auto run = [this] {
    set_handler(SIGSEGV, exit_earlier);
    catch_memory_faults();
    memory.lose(Loss::kNoAccess);
    if (!write_to(memory.bytes())) std::_Exit(1);
    fault_of_the_program();
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(kEarlier), "");
}

TEST_F(MemoryFaultsDeathTest, LaterHandlerGetsTheProgramsFaults) {
  const auto run = [this] {
    set_handler(SIGSEGV, exit_later);
    fault_of_the_program();
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(kLater), "");
}

TEST_F(MemoryFaultsDeathTest, LaterHandlerGetsOnlyTheProgramsFaultsFromTheNextCallOn) {
  const auto run = [this] {
    set_handler(SIGSEGV, exit_earlier);
    catch_memory_faults();
    set_handler(SIGSEGV, exit_later);
    catch_memory_faults();
    memory.lose(Loss::kNoAccess);
    if (!write_to(memory.bytes())) std::_Exit(1);
    fault_of_the_program();
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(kLater), "");
}

struct sigaction replaced_by_program;
int passed_on_by_program = 0;

void pass_on_to_replaced(int signal, siginfo_t* info, void* context) {
  if (++passed_on_by_program > 1) std::_Exit(1);
  replaced_by_program.sa_sigaction(signal, info, context);
}

void set_chaining_handler() {
  struct sigaction action {};
  action.sa_sigaction = pass_on_to_replaced;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSEGV, &action, &replaced_by_program);
}

TEST_F(MemoryFaultsDeathTest, LaterHandlerThatCallsTheOneItReplacedReachesTheEarlierOne) {
  const auto run = [this] {
    set_handler(SIGSEGV, exit_earlier);
    catch_memory_faults();
    set_chaining_handler();
    catch_memory_faults();  // in front of it: now each of the two calls the other
    memory.lose(Loss::kNoAccess);
    if (!write_to(memory.bytes()) || passed_on_by_program != 0) std::_Exit(2);
    fault_of_the_program();
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(kEarlier), "");
}

TEST_F(MemoryFaultsDeathTest, HandlerThatCallsTheOneItReplacedLetsUsRecover) {
  const auto run = [this] {
    set_chaining_handler();
    memory.lose(Loss::kNoAccess);
    std::_Exit(write_to(memory.bytes()) && passed_on_by_program == 1 ? kAnother : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(kAnother), "");
}

sigjmp_buf way_out;
void jump_out(int) { siglongjmp(way_out, 1); }

// Runtimes that make exceptions of faults leave their handlers so.
TEST_F(MemoryFaultsDeathTest, HandlerThatJumpsOutGetsTheNextFaultToo) {
  const auto run = [this] {
    set_handler(SIGSEGV, exit_earlier);
    catch_memory_faults();
    set_handler(SIGSEGV, jump_out);
    catch_memory_faults();
    static volatile int jumps = 0;
    if (sigsetjmp(way_out, 1) != 0) jumps = jumps + 1;
    if (jumps < 3) fault_of_the_program();
    memory.lose(Loss::kNoAccess);
    std::_Exit(write_to(memory.bytes()) ? kAnother : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(kAnother), "");
}

int calls = 0;
void count_once(int) { ++calls; }

TEST_F(MemoryFaultsDeathTest, HandlerForOneSignalIsCalledOnce) {
  const auto run = [] {
    set_handler(SIGSEGV, count_once, static_cast<int>(SA_RESETHAND));
    catch_memory_faults();
    ::raise(SIGSEGV);
    if (calls != 1) std::_Exit(1);
    ::raise(SIGSEGV);
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGSEGV), "");
}

int blocked_inside = 0;
void note_mask(int) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  blocked_inside = (sigismember(&blocked, SIGSEGV) << 1) | sigismember(&blocked, SIGUSR1);
}

TEST_F(MemoryFaultsDeathTest, HandlerRunsWithTheMaskThatItAskedFor) {
  const auto run = [] {
    struct sigaction action {};
    action.sa_handler = note_mask;
    sigaddset(&action.sa_mask, SIGUSR1);
    ::sigaction(SIGSEGV, &action, nullptr);
    catch_memory_faults();
    ::raise(SIGSEGV);
    std::_Exit(blocked_inside == 3 ? kAnother : 1);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(kAnother), "");
}

// A program that changes its handlers all the time is not followed for ever.
TEST_F(MemoryFaultsDeathTest, HandlerThatIsChangedAgainAndAgainGetsItsFaults) {
  const auto run = [] {
    for (int i = 0; i < 100; ++i) {
      set_handler(SIGSEGV, i % 2 == 0 ? exit_earlier : exit_later);
      catch_memory_faults();
    }
    fault_of_the_program();
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(kLater), "");
}

TEST_F(MemoryFaultsDeathTest, ForkedChildRecovers) {
  const auto run = [this] {
    memory.lose(Loss::kUnmapped);
    const pid_t child = ::fork();
    if (child == 0) {
      catch_memory_faults();
      std::_Exit(write_to(memory.bytes()) ? kAnother : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    std::_Exit(WEXITSTATUS(status));
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(kAnother), "");
}

}  // namespace
}  // namespace iwarp::process
