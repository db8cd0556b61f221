#pragma once

namespace iwarp::process {

/// Lets a guarded access (base/guarded_access.hpp) to memory that is not there fail, rather than
/// end the process: installs a handler of SIGSEGV and SIGBUS. Whatever else raises these signals is
/// passed on to the handler that the program had, or to the system's default action, which ends the
/// process at the instruction that failed, as if this handler were not there.
///
/// To be called again now and then, at each registration of memory and each new connection: a
/// program may have installed a handler of its own meanwhile, which then gets what is passed on.
/// One that the program installs later, and that does not call the one it replaced, gets everything
/// until the next call. The handler is never removed, and the library that contains it never
/// unloaded. Thread-safe.
void catch_memory_faults();

/// Lets SIGSEGV and SIGBUS arrive at the calling thread: the system ends a process whose thread
/// blocks the signal that an access of it raises.
void admit_memory_faults();

}  // namespace iwarp::process
