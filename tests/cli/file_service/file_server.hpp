#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "cli/bytes_of.hpp"
#include "cli/scratch_directory.hpp"
#include "context.hpp"
#include "file_service/client/client.hpp"
#include "file_service/client/transfer.hpp"
#include "file_service/server/server.hpp"
#include "interrupt.hpp"

/// A file server of this process, and clients for it.
namespace iwarp::cli::file_service {

/// A link that sends whatever a test likes.
class RawClient {
 public:
  explicit RawClient(const verbs::Endpoint& server)
      : device_(require(verbs::Device::open(), "open")),
        link_(device_, kClientLink, kStallTimeout) {
    verbs::ConnectOptions options;
    const auto hello = Hello{}.encode();
    options.private_data.assign(hello.begin(), hello.end());
    link_.connect(server, options, [] {});
  }

  void send(const Request& request) { link_.send(request.encode(link_.outgoing())); }
  void send_bytes(ConstBytes bytes) {
    std::copy(bytes.begin(), bytes.end(), link_.outgoing().begin());
    link_.send(bytes.size());
  }

  /// The status of the next answer; throws a LinkLost if none comes.
  Status answer() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < deadline) {
      const auto event = link_.wait(std::chrono::milliseconds(100));
      if (!event || event->kind != Link::Event::Kind::kMessage) continue;
      const auto reply = ReplyView::parse(link_.message(*event));
      if (!reply) throw std::runtime_error("bad answer");
      const Status status = reply->status();
      if (receiving_) link_.recycle(event->slot);
      return status;
    }
    throw std::runtime_error("no answer and no end of the connection");
  }
  Status ask(const Request& request) {
    send(request);
    return answer();
  }

  /// The receives that are posted now are the last ones.
  void stop_receiving() { receiving_ = false; }

  verbs::MemoryRegion offer(MutableBytes memory) {
    return require(link_.domain().register_memory(
                       memory, verbs::Access::kLocalWrite | verbs::Access::kRemoteRead |
                                   verbs::Access::kRemoteWrite | verbs::Access::kRemoteInvalidate),
                   "register");
  }

 private:
  verbs::Device device_;
  Link link_;
  bool receiving_ = true;
};

/// A server that offers a directory with one file, "file" of 3 MiB.
class FileServerTest : public testing::Test {
 protected:
  explicit FileServerTest(const ServerOptions& options = {}) : options_(options) {
    scratch_.write("file", std::string(3U << 20, 'f'));
    thread_ = std::jthread([this] { server_.run(); });
  }
  ~FileServerTest() override { stop(); }

  /// As a signal does it. Once is enough.
  void stop() {
    if (!thread_.joinable()) return;
    std::raise(SIGTERM);
    thread_.join();
  }

  RawClient connect() { return RawClient(server_.endpoint()); }
  std::unique_ptr<Client> connect_client() {
    const HostPort address{server_.endpoint().address().to_string(), server_.endpoint().port()};
    return std::make_unique<Client>(device_, address, ClientOptions{});
  }
  /// Whether another client finds room.
  bool has_room() {
    try {
      static_cast<void>(connect_client());
      return true;
    } catch (const CommandError& error) {
      EXPECT_THAT(error.what(), testing::AnyOf(testing::HasSubstr("as many clients as it takes"),
                                               testing::HasSubstr("has to wait for a while")));
      return false;
    }
  }

  const ServerOptions options_;
  ScratchDirectory scratch_;
  InterruptGuard guard_;
  verbs::Device device_ = require(verbs::Device::open(), "open");
  Server server_{require(verbs::Device::open(), "open"), Store::open(scratch_.path().string()),
                 verbs::Endpoint(verbs::Address::loopback(), 0), options_};
  std::jthread thread_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(2U << 20);
};

}  // namespace iwarp::cli::file_service
