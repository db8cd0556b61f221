#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

/// Runs a fuzz target over files instead of inventing inputs: each argument is a file, or a folder
/// of files. Fails if there is none.

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const fs::path& named) {
  if (!fs::is_directory(named)) return {named};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(named)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void replay(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "cannot read %s\n", file.c_str());
    std::exit(EXIT_FAILURE);
  }
  const std::vector<char> octets{std::istreambuf_iterator<char>(in), {}};
  std::printf("%s\n", file.c_str());  // the last line names the culprit
  std::fflush(stdout);
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(octets.data()), octets.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    for (const fs::path& file : files_of(argv[i])) {
      replay(file);
      ++count;
    }
  }
  std::printf("%zu inputs\n", count);
  return count == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
