#pragma once

/// The last moments of a process, in which its connections are seen off.
namespace iwarp::compat {

/// From now on nothing happens any more for the program's other threads, which may still wait or
/// poll while the first one has left: the kernel ends them before it ends their connections. What
/// an event of that end concerns may be gone already.
void begin_process_end();
[[nodiscard]] bool process_is_ending();

/// What a thread does that would wait for an event: it goes with the process. A cancellation point.
[[noreturn]] void wait_for_process_end();

}  // namespace iwarp::compat
