#pragma once

#include <optional>
#include <string>

namespace iwarp::cli {

/// What of a program's file decides whether libraries can be put before those of the system.
struct ProgramFile {
  enum class Linkage {
    kDynamic,  ///< It loads its libraries when it starts.
    kStatic,   ///< It loads none.
    kForeign,  ///< An ELF file of another architecture than ours.
    kScript,   ///< No ELF file: an interpreter runs it.
  };
  Linkage linkage = Linkage::kScript;
  /// It gains rights when it starts (setuid, setgid, file capabilities), so the dynamic linker
  /// ignores the environment.
  bool gains_rights = false;
  /// It has a DT_RPATH and no DT_RUNPATH: that path is searched before LD_LIBRARY_PATH.
  bool searches_rpath_first = false;
};

/// The file that execvp would run for `program`: itself if it has a slash, else the first
/// executable of that name in PATH; nothing if there is none.
std::optional<std::string> find_program(const std::string& program);

/// Looks at the file; what cannot be read is taken for a script.
ProgramFile inspect_program(const std::string& path);

}  // namespace iwarp::cli
