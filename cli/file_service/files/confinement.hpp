#pragma once

#include <cstdint>
#include <string>
#include <system_error>

#include "file_service/files/fd.hpp"

/// What a server gives up before it talks to a peer: if a stranger should take it over in spite of
/// everything, the process can do little else than what the service does anyway.
namespace iwarp::cli::file_service {

/// The rights that a set of Landlock's rules speaks of: those that it names are forbidden but where
/// a rule allows them. The numbers are the kernel's.
struct LandlockRights {
  std::uint64_t files = 0;
  std::uint64_t ports = 0;   ///< TCP: binding and connecting.
  std::uint64_t scopes = 0;  ///< What reaches other processes.

  bool operator==(const LandlockRights&) const = default;
};

/// All that Landlock of version `abi` knows, as far as this program does: a kernel refuses rights
/// that are younger than itself.
LandlockRights landlock_rights(int abi);

/// What stays possible.
struct Confinement {
  const Fd& directory;     ///< Reading, writing and replacing files in it and below.
  std::string captures;    ///< Making files there; empty: there is no such directory.
  std::uint16_t port = 0;  ///< Listening there; 0 is any port that the system chooses.
  bool adapter = false;    ///< Opening RDMA adapters, and reading what the system says of them.
};

/// No program that this process executes gets more rights than it has itself (no_new_privs).
/// Concerns the calling thread and those that it starts from now on.
FileResult<void> give_up_privileges();

/// From now on the calling thread, and those that it starts, reach nothing but that by opening,
/// making, renaming or removing files; connect to no peer by TCP; and send signals to no other
/// process (Landlock). What is open stays open. Returns the version of Landlock; the parts that it
/// does not have are not forbidden. After give_up_privileges(). Errors: ENOSYS or EOPNOTSUPP where
/// the kernel has no Landlock or does not use it.
FileResult<int> confine(const Confinement& to);

/// Both, after what libraries load when they are first used. The log tells what cannot be had;
/// a server works without.
void drop_what_is_not_needed(const Confinement& to);

}  // namespace iwarp::cli::file_service
