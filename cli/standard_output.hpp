#pragma once

#include <array>
#include <streambuf>

namespace iwarp::cli {

/// While it lives, what std::cout is given goes to the descriptor of standard output, and the first
/// reason for which some of it did not arrive is remembered. main() has one, before anything else
/// opens a file: if a standard descriptor is closed, the next file would take its number, and what
/// is printed would end up in that file. The descriptors that were closed are held meanwhile, such
/// that a read or write of them fails as before, and programs that are executed find them closed.
class StandardOutput : public std::streambuf {
 public:
  StandardOutput();
  ~StandardOutput() override;
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

 private:
  friend void require_standard_output();

  int_type overflow(int_type next) override;
  int sync() override;
  bool write_all();

  std::array<char, 4096> buffer_;
  std::streambuf* before_;
  int reason_ = 0;  ///< An errno.
};

/// Sends what was printed on std::cout. Throws a CommandError that names the system's reason if
/// that, or anything printed earlier, did not arrive. main() ends with it; a server calls it behind
/// the line that tells that it is ready.
void require_standard_output();

}  // namespace iwarp::cli
