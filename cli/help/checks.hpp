#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

/// What the values of options are checked with. Each says in one sentence what was given and what
/// is permitted; CLI11 puts the name of the option before it. All are given to transform(): they
/// hand on the value in the one form that CLI11 reads as they do. What --help, manual pages and
/// completion tell about the values is read from here, too (option_values.hpp).
namespace iwarp::cli {

/// Some words and no others.
class OneOf : public CLI::Validator {
 public:
  explicit OneOf(std::vector<std::string> words);
};

/// A number between two, which are permitted. Whole if they are; in decimal.
class Within : public CLI::Validator {
 public:
  template <typename Number>
  Within(Number least, Number greatest) {
    if constexpr (std::is_floating_point_v<Number>) {
      between(static_cast<double>(least), static_cast<double>(greatest));
    } else {
      between(static_cast<std::int64_t>(least), static_cast<std::int64_t>(greatest));
    }
  }

 private:
  void between(double least, double greatest);
  void between(std::int64_t least, std::int64_t greatest);
};

/// A number of octets, of which K, M and G stand for powers of 1024: 64K, 1M.
class Octets : public CLI::Validator {
 public:
  Octets(std::uint64_t least, std::uint64_t greatest);
};

/// A directory that is there.
class Directory : public CLI::Validator {
 public:
  Directory();
};

/// Network interfaces of this host: eth0,lo.
class Interfaces : public CLI::Validator {
 public:
  Interfaces();
};

/// Anything but nothing.
class NotEmpty : public CLI::Validator {
 public:
  NotEmpty();
};

/// As Octets takes it: "64K", "136".
std::string octets_text(std::uint64_t octets);

/// "a", "a or b", "a, b or c".
std::string alternatives(const std::vector<std::string>& words);

}  // namespace iwarp::cli
