#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>

namespace iwarp::cli {

/// What --help prints, in lines no longer than the terminal's; on a narrow one, what an option does
/// stands below its name. The words are those of the manual pages (option_values.hpp).
class HelpFormatter : public CLI::Formatter {
 public:
  /// Without `width` that of the terminal behind standard output when help is asked for, or 80.
  explicit HelpFormatter(std::size_t width = 0) : width_(width) {}

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* sub) const override;

 private:
  std::size_t width() const;
  std::string item(const std::string& tag, const std::string& text) const;

  std::size_t width_;
};

/// The help of a command, whichever subcommands were chosen below it.
std::string help_of(const CLI::App& command);

}  // namespace iwarp::cli
