#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <boost/asio.hpp>
#include <chrono>
#include <optional>
#include <string_view>
#include <thread>

#include "cli/file_service/file_server.hpp"
#include "support/own_new.hpp"

// A server whose own thread finds no memory for a while.
namespace {

std::atomic<pthread_t> starved{};
std::atomic<int> refusals = 0;

bool admits() {
  pthread_t const thread = starved;
  if (thread == pthread_t{} || pthread_equal(thread, pthread_self()) == 0) return true;
  ++refusals;
  return false;
}

}  // namespace

namespace iwarp::cli::file_service {
namespace {

using namespace std::chrono_literals;

/// A peer that is no client of the service: its MPA Request has no private data.
class Stranger {
 public:
  explicit Stranger(const verbs::Endpoint& server) {
    socket_.connect({server.address(), server.port()});
    constexpr std::string_view kRequest{"MPA ID Req Frame\0\1\0\0", 20};
    boost::asio::write(socket_, boost::asio::buffer(kRequest));
  }

 private:
  boost::asio::io_context context_;
  boost::asio::ip::tcp::socket socket_{context_};
};

class StarvedServer : public FileServerTest {
 protected:
  ~StarvedServer() override { starved = pthread_t{}; }

  /// A stranger is to be turned away while the server finds no memory.
  void starve() {
    iwarp::test::ask_at_each_new(&admits);
    refusals = 0;
    starved = thread_.native_handle();
    stranger_.emplace(server_.endpoint());
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (refusals == 0 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(1ms);
    }
    ASSERT_GT(refusals, 0) << "the server asked for no memory";
  }

  std::optional<Stranger> stranger_;
};

TEST_F(StarvedServer, LetsClientsInWhenThereIsMemoryAgain) {
  starve();
  starved = pthread_t{};
  EXPECT_EQ(connect().ask({.operation = Operation::kOpenGet, .payload = bytes_of("file")}),
            Status::kOk);
}

TEST_F(StarvedServer, EndsWithASignal) {
  starve();
  stop();
}

}  // namespace
}  // namespace iwarp::cli::file_service
