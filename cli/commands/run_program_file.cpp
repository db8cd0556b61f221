#include "commands/run_program_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "file_service/files/fd.hpp"

namespace iwarp::cli {
namespace {

using file_service::Fd;

constexpr std::size_t kMostHeaders = 256;  // A real file has about a dozen.
constexpr std::size_t kMostEntries = 4096;

/// Reads one plain struct of the file.
template <typename T>
std::optional<T> read_at(const Fd& file, std::uint64_t offset) {
  T value;
  const auto got = ::pread(file.get(), &value, sizeof value, static_cast<off_t>(offset));
  if (got != static_cast<ssize_t>(sizeof value)) return std::nullopt;
  return value;
}

/// Reads as many structs as there are, up to `most`.
template <typename T>
std::vector<T> read_table(const Fd& file, std::uint64_t offset, std::size_t most) {
  std::vector<T> table;
  while (table.size() < most) {
    const auto entry = read_at<T>(file, offset + table.size() * sizeof(T));
    if (!entry) break;
    table.push_back(*entry);
  }
  return table;
}

bool is_elf(const Elf64_Ehdr& header) {
  constexpr std::array<unsigned char, SELFMAG> magic{ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3};
  return std::equal(magic.begin(), magic.end(), std::begin(header.e_ident));
}

/// This program's own header tells what this machine runs.
bool is_ours(const Elf64_Ehdr& header) {
  const Fd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const auto own = read_at<Elf64_Ehdr>(self, 0);
  return !own ||
         (header.e_ident[EI_CLASS] == own->e_ident[EI_CLASS] &&
          header.e_ident[EI_DATA] == own->e_ident[EI_DATA] && header.e_machine == own->e_machine);
}

/// Whether the dynamic section has an RPATH that counts (a RUNPATH makes it void).
bool has_rpath(const Fd& file, const Elf64_Phdr& dynamic) {
  const auto entries = read_table<Elf64_Dyn>(
      file, dynamic.p_offset, std::min(kMostEntries, dynamic.p_filesz / sizeof(Elf64_Dyn)));
  bool rpath = false;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_RUNPATH) return false;
    rpath = rpath || entry.d_tag == DT_RPATH;
  }
  return rpath;
}

void inspect_elf(const Fd& file, const Elf64_Ehdr& header, ProgramFile& found) {
  if (!is_ours(header)) {
    found.linkage = ProgramFile::Linkage::kForeign;
    return;
  }
  found.linkage = ProgramFile::Linkage::kStatic;
  const auto segments = read_table<Elf64_Phdr>(file, header.e_phoff,
                                               std::min<std::size_t>(kMostHeaders, header.e_phnum));
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_INTERP) found.linkage = ProgramFile::Linkage::kDynamic;
    if (segment.p_type == PT_DYNAMIC) found.searches_rpath_first = has_rpath(file, segment);
  }
}

/// As the kernel decides it: rights that this process has already are not gained.
bool gains_rights(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return false;
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != ::getuid()) return true;
  if ((status.st_mode & S_ISGID) != 0 && status.st_gid != ::getgid()) return true;
  return ::getuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
}

bool is_executable(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::optional<std::string> find_program(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "/bin:/usr/bin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string candidate = (directory.empty() ? "." : directory) + "/" + program;
    if (is_executable(candidate)) return candidate;
  }
  return std::nullopt;
}

ProgramFile inspect_program(const std::string& path) {
  ProgramFile found;
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (!header || !is_elf(*header)) return found;
  inspect_elf(file, *header, found);
  found.gains_rights = gains_rights(path);
  return found;
}

}  // namespace iwarp::cli
