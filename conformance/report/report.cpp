#include "report/report.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "report/capture/capture.hpp"
#include "report/writers.hpp"

namespace iwarp::conform {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path& file, std::string_view content) {
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (!out) {
    throw std::runtime_error("cannot write " + file.string() + ": " +
                             std::strerror(errno != 0 ? errno : EIO));
  }
}

}  // namespace

void make_directory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    throw std::runtime_error("cannot make the directory " + directory.string() +
                             " for the report: " + error.message());
  }
}

std::string capture_name(const Result& result) {
  std::string name(result.test.id);
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.';
    if (!plain) c = '_';
  }
  return name + ".pcapng";
}

void write_report(const Report& report, const fs::path& directory) {
  make_directory(directory);
  write_file(directory / "junit.xml", junit_of(report));
  write_file(directory / "report.json", json_of(report));
  for (const Result& result : report.results) {
    if (result.transcript.connections().empty()) continue;
    const Octets capture = capture_of(result, report.tester + ' ' + report.version);
    write_file(directory / capture_name(result),
               {reinterpret_cast<const char*>(capture.data()), capture.size()});
  }
  write_file(directory / kPageName, page_of(report));
}

}  // namespace iwarp::conform
