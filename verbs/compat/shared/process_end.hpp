#pragma once

/// The last moments of a process, in which its connections are seen off.
namespace iwarp::compat {

/// The calling thread ends the process. From now on nothing happens any more for the others, which
/// may still wait or poll: the kernel ends them before it ends their connections. What an event of
/// that end concerns may be gone already.
void begin_process_end();

/// Whether the process is ending and the calling thread is one of the others. The one that ends it
/// may still come, from the destructors of libraries that are unloaded behind this one.
[[nodiscard]] bool caller_is_left_behind();

/// What such a thread does in place of a wait: it goes with the process. A cancellation point.
[[noreturn]] void wait_for_process_end();

}  // namespace iwarp::compat
