// The agent and nothing else of the program `iwarp`, so that a defect is compiled in quickly.
#include <csignal>
#include <iostream>

#include "agent/agent_server.hpp"

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  auto device = iwarp::verbs::Device::open();
  if (!device) {
    std::cerr << device.error().message << '\n';
    return 1;
  }
  iwarp::agent::Server server(std::move(*device),
                              {.listen = {iwarp::verbs::Address::loopback(), 0}, .once = true});
  std::cout << "agent listens on " << server.endpoint() << std::endl;
  server.run();
}
