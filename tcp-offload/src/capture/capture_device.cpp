#include <cerrno>
#include <cstdlib>
#include <new>
#include <utility>

#include "capture/captured_connection.hpp"
#include "iwarp/tcp_offload/capture.hpp"

namespace iwarp::tcp_offload {

namespace capture {
namespace {

// What each connection of a device needs.
struct Way {
  std::shared_ptr<Writer> writer;
  std::string directory;
  Offloads offloads;
};

std::unique_ptr<Connection> record(const Way& way, std::unique_ptr<Connection> connection,
                                   Opener opener) {
  if (connection == nullptr) return nullptr;
  auto recorder =
      std::make_shared<Recorder>(way.writer, connection->local(), connection->remote(), opener);
  if (!way.directory.empty()) recorder->start(way.directory);
  return std::make_unique<CapturedConnection>(std::move(connection), std::move(recorder),
                                              way.offloads);
}

ConnectionHandler recording(Way way, Opener opener, ConnectionHandler handler) {
  return [way = std::move(way), opener, handler = std::move(handler)](
             std::error_code error, std::unique_ptr<Connection> connection) mutable {
    std::unique_ptr<Connection> recorded;
    try {
      recorded = record(way, std::move(connection), opener);
    } catch (const std::bad_alloc&) {
      error = {ENOMEM, std::system_category()};
    }
    handler(error, std::move(recorded));
  };
}

class CapturedAcceptor final : public Acceptor {
 public:
  CapturedAcceptor(std::unique_ptr<Acceptor> inner, Way way)
      : inner_(std::move(inner)), way_(std::move(way)) {}

  void async_accept(ConnectionHandler handler) override {
    inner_->async_accept(recording(way_, Opener::kRemote, std::move(handler)));
  }
  [[nodiscard]] Endpoint local_endpoint() const override { return inner_->local_endpoint(); }
  void close() override { inner_->close(); }

 private:
  const std::unique_ptr<Acceptor> inner_;
  const Way way_;
};

}  // namespace
}  // namespace capture

std::string capture_directory() {
  const char* directory = std::getenv("IWARP_CAPTURE");
  return directory == nullptr ? "" : directory;
}

CaptureDevice::CaptureDevice(Device& inner, std::string directory)
    : inner_(inner), directory_(std::move(directory)), writer_(capture::Writer::make()) {}

CaptureDevice::~CaptureDevice() { writer_->stop(); }

Result<std::unique_ptr<Acceptor>, std::error_code> CaptureDevice::listen(const Endpoint& at,
                                                                         const ListenTerms& terms) {
  auto acceptor = inner_.listen(at, terms);
  if (!acceptor) return failure(acceptor.error());
  return std::unique_ptr<Acceptor>(std::make_unique<capture::CapturedAcceptor>(
      std::move(*acceptor), capture::Way{writer_, directory_, offloads()}));
}

std::unique_ptr<ConnectAttempt> CaptureDevice::async_connect_from(const LocalEnd& from,
                                                                  const Endpoint& to,
                                                                  ConnectionHandler handler) {
  if (!directory_.empty()) {
    handler = capture::recording({writer_, directory_, offloads()}, capture::Opener::kLocal,
                                 std::move(handler));
  }
  return inner_.async_connect_from(from, to, std::move(handler));
}

Result<std::unique_ptr<Connection>, std::error_code> CaptureDevice::adopt(int socket) {
  auto connection = inner_.adopt(socket);
  if (!connection) return connection;
  return capture::record({writer_, directory_, offloads()}, std::move(*connection),
                         capture::Opener::kUnknown);
}

void begin_capture(Connection& connection, const std::string& directory) {
  auto* captured = dynamic_cast<capture::CapturedConnection*>(&connection);
  if (captured != nullptr && !directory.empty()) captured->begin(directory);
}

}  // namespace iwarp::tcp_offload
