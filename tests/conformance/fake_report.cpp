#include <cstdio>
#include <cstring>

#include "conformance/fake_run.hpp"

/// Writes the report of a run that never was, to look at the page: fake-report DIR [large].
int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: fake-report DIR [large]\n", stderr);
    return 2;
  }
  const bool large = argc > 2 && std::strcmp(argv[2], "large") == 0;
  using namespace iwarp::conform;
  write_report(large ? test::large_report(300, 40) : test::fake_report(), argv[1]);
  return 0;
}
