#include "context.hpp"
#include "parse.hpp"
#include "standard_output.hpp"

int main(int argc, char** argv) {
  using namespace iwarp::cli;
  try {
    const StandardOutput output;
    return parse_and_run(argc, argv);
  } catch (const CommandError& error) {
    print_failure(error);
    return static_cast<int>(error.status());
  } catch (const std::exception& error) {
    print_failure(error);
    return static_cast<int>(ExitStatus::kFailed);
  }
}
