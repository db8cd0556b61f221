// Writes the manual pages of the program and of its subcommands: at build time, from the same
// definitions as --help.
#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "help/command_name.hpp"
#include "man/command_page.hpp"
#include "program.hpp"

namespace {

using namespace iwarp::cli;

/// The day of SOURCE_DATE_EPOCH, as packagers set it; otherwise none, so that the same source
/// always makes the same page.
std::string date() {
  const char* const epoch = std::getenv("SOURCE_DATE_EPOCH");
  if (epoch == nullptr) return {};
  const std::time_t seconds = std::strtoll(epoch, nullptr, 10);
  std::tm day{};
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", ::gmtime_r(&seconds, &day));
  return text.data();
}

void write_page(const std::filesystem::path& directory, const CLI::App& command) {
  std::ofstream file(directory / (man::page_name(command) + ".1"));
  file << man::command_page(command, {.version = IWARP_VERSION, .date = date()});
  file.close();
  if (!file) throw std::runtime_error("cannot write the page of " + command.get_name());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: iwarp-man DIRECTORY\n";
    return 2;
  }
  try {
    Context context;
    const auto app = make_app(context);
    std::filesystem::create_directories(argv[1]);
    write_page(argv[1], *app);
    for (const CLI::App* const command : subcommands_of(*app)) write_page(argv[1], *command);
  } catch (const std::exception& error) {
    std::cerr << "iwarp-man: " << error.what() << '\n';
    return 1;
  }
}
