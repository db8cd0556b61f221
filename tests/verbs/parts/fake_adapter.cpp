#include "verbs/parts/fake_adapter.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

namespace iwarp::verbs::test {
namespace {

using Lock = std::lock_guard<std::mutex>;

class FakeCq final : public provider::Cq {
 public:
  FakeCq(std::uint32_t depth, std::uint32_t number) : capacity_(depth), number_(number) {}
  ~FakeCq() override { ::close(descriptor_); }

  std::size_t poll(std::span<Completion> into) override {
    const Lock lock(mutex_);
    const std::size_t n = std::min(into.size(), ring_.size());
    std::copy_n(ring_.begin(), n, into.begin());
    ring_.erase(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(n));
    return n;
  }
  void arm(provider::Arm what) override {
    const Lock lock(mutex_);
    armed_ = what;
  }
  bool wait(std::chrono::milliseconds timeout) override {
    const auto end = std::chrono::steady_clock::now() + timeout;
    while (empty()) {
      if (std::chrono::steady_clock::now() >= end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
  int event_descriptor() override { return descriptor_; }
  bool take_event() override {
    eventfd_t value = 0;
    return ::eventfd_read(descriptor_, &value) == 0;
  }
  std::uint32_t capacity() const override { return capacity_; }
  std::uint32_t number() const override { return number_; }

  void add(const Completion& completion) {
    const Lock lock(mutex_);
    ring_.push_back(completion);
    const bool special =
        completion.status != Status::kSuccess || has(completion.flags, CompletionFlags::kSolicited);
    if (!armed_ || (*armed_ == provider::Arm::kSolicited && !special)) return;
    armed_.reset();
    ::eventfd_write(descriptor_, 1);
  }

 private:
  bool empty() {
    const Lock lock(mutex_);
    return ring_.empty();
  }

  const std::uint32_t capacity_;
  const std::uint32_t number_;
  const int descriptor_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC | EFD_SEMAPHORE);
  std::mutex mutex_;
  std::deque<Completion> ring_;
  std::optional<provider::Arm> armed_;
};

class FakePd final : public provider::Pd {};

class FakeMr final : public provider::Mr {
 public:
  explicit FakeMr(std::uint32_t number) : key_(number) {}
  Stag lkey() const override { return Stag(key_); }
  Stag rkey() const override { return Stag(key_ + 1); }

 private:
  const std::uint32_t key_;
};

struct PostedReceive {
  std::uint64_t wr_id;
  std::vector<Sge> sges;
};

// One adapter has one lock: what its queue pairs do to each other is atomic.
std::mutex adapter_mutex;

class FakeQp final : public provider::Qp, public std::enable_shared_from_this<FakeQp> {
 public:
  FakeQp(provider::QpInit init, std::uint32_t number) : init_(std::move(init)), number_(number) {}

  Result<void, PostError> post_send(std::span<const SendWr> requests, Posting) override {
    const Lock lock(adapter_mutex);
    const auto peer = peer_.lock();
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (!peer) return Failure<PostError>{{std::errc::not_connected, i}};
      complete(requests[i], perform(requests[i], *peer));
    }
    return {};
  }
  Result<void, PostError> post_receive(std::span<const RecvWr> requests) override {
    const Lock lock(adapter_mutex);
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (receives_.size() == init_.capacity.max_recv_wr) {
        return Failure<PostError>{{std::errc::not_enough_memory, i}};
      }
      receives_.push_back({requests[i].wr_id, {requests[i].sges.begin(), requests[i].sges.end()}});
    }
    return {};
  }

  void allow_peer(Access) override {}
  Outcome<void> connect(const Endpoint& to, const ConnectOptions& options) override;
  Outcome<void> adopt(StreamingSocket&, const ConnectOptions&) override {
    return fail(std::errc::not_supported, "fake0: it has no TCP connections");
  }
  void disconnect() override { end_both(); }
  void close() override { end_both(); }
  void abort() override { end_both(); }
  void release() override {
    if (const auto peer = peer_.lock()) peer->end();
  }
  bool drained() const override {
    const Lock lock(adapter_mutex);
    return state_ == QpState::kError && receives_.empty();
  }
  QpState state() const override { return state_; }
  std::uint32_t number() const override { return number_; }
  QpCapacity capacity() const override { return init_.capacity; }
  QpCounters counters() const override {
    const Lock lock(adapter_mutex);
    return counters_;
  }
  std::optional<TerminateInfo> terminate_sent() const override { return std::nullopt; }
  std::optional<TerminateInfo> terminate_received() const override { return std::nullopt; }
  Diagnosis diagnosis() const override { return {}; }

  void establish(const std::shared_ptr<FakeQp>& peer, const ConnectOptions& of_peer) {
    peer_ = peer;
    state_ = QpState::kRts;
    ConnectionEvent event{ConnectionEvent::Kind::kEstablished, {}, {}};
    event.info.private_data = of_peer.private_data;
    tell(event);
  }
  void tell(const ConnectionEvent& event) {
    if (init_.on_event) init_.on_event(event);
  }

 private:
  Status perform(const SendWr& request, FakeQp& peer) {
    switch (request.opcode) {
      case Opcode::kSend:
      case Opcode::kSendInvalidate: return peer.deliver(request);
      case Opcode::kWrite:
      case Opcode::kRead: {
        auto* remote = reinterpret_cast<std::byte*>(request.remote_offset);
        for (const Sge& sge : request.sges) {
          const bool write = request.opcode == Opcode::kWrite;
          std::memcpy(write ? remote : sink(sge), write ? sge.address : remote, sge.length);
          remote += sge.length;
        }
        return Status::kSuccess;
      }
      default: return Status::kLocalQpError;
    }
  }
  // Of a request that writes: its memory was registered for that.
  static void* sink(const Sge& sge) { return const_cast<void*>(sge.address); }
  Status deliver(const SendWr& request) {
    if (receives_.empty()) return Status::kRemoteOperationError;
    const PostedReceive receive = std::move(receives_.front());
    receives_.pop_front();
    std::vector<std::byte> message;
    for (const Sge& sge : request.sges) {
      const auto* data = static_cast<const std::byte*>(sge.address);
      message.insert(message.end(), data, data + sge.length);
    }
    std::size_t done = 0;
    for (const Sge& sge : receive.sges) {
      const std::size_t n = std::min<std::size_t>(sge.length, message.size() - done);
      std::copy_n(message.begin() + static_cast<std::ptrdiff_t>(done), n,
                  static_cast<std::byte*>(sink(sge)));
      done += n;
    }
    Completion completion{receive.wr_id, number_, static_cast<std::uint32_t>(message.size())};
    completion.opcode = CompletionOpcode::kReceive;
    if (done < message.size()) completion.status = Status::kLocalLengthError;
    if (has(request.flags, SendFlags::kSolicited)) completion.flags = CompletionFlags::kSolicited;
    static_cast<FakeCq&>(*init_.recv_cq).add(completion);
    ++counters_.receives;
    return done < message.size() ? Status::kRemoteInvalidRequest : Status::kSuccess;
  }
  void complete(const SendWr& request, Status status) {
    ++counters_.sends;
    if (status == Status::kSuccess && !has(request.flags, SendFlags::kSignaled)) return;
    Completion completion{request.wr_id, number_};
    completion.status = status;
    static_cast<FakeCq&>(*init_.send_cq).add(completion);
  }
  void end_both() {
    const auto peer = peer_.lock();
    end();
    if (peer) peer->end();
  }
  void end() {
    if (state_.exchange(QpState::kError) == QpState::kRts) {
      tell({ConnectionEvent::Kind::kDisconnected, {}, {}});
    }
  }

  const provider::QpInit init_;
  const std::uint32_t number_;
  std::atomic<QpState> state_ = QpState::kIdle;
  std::weak_ptr<FakeQp> peer_;
  std::deque<PostedReceive> receives_;
  QpCounters counters_;
};

class FakeIncoming final : public provider::IncomingConnection {
 public:
  FakeIncoming(std::shared_ptr<FakeQp> asker, ConnectOptions options)
      : asker_(std::move(asker)), options_(std::move(options)) {
    info_.private_data = options_.private_data;
  }
  ~FakeIncoming() override {
    if (asker_) refuse({});
  }
  const ConnectionInfo& info() const override { return info_; }
  Outcome<void> accept(const std::shared_ptr<provider::Qp>& qp,
                       const ConnectOptions& options) override {
    const auto mine = std::static_pointer_cast<FakeQp>(qp);
    const auto asker = std::exchange(asker_, nullptr);
    mine->establish(asker, options_);
    asker->establish(mine, options);
    return {};
  }
  Outcome<void> reject(ConstBytes private_data) override {
    refuse(private_data);
    return {};
  }
  Outcome<void> reject_and_keep(ConstBytes, provider::KeptHandler) override {
    return fail(std::errc::not_supported, "fake0: it has no TCP connections");
  }

 private:
  void refuse(ConstBytes private_data) {
    ConnectionEvent event{ConnectionEvent::Kind::kRejected, {}, {}};
    event.error = {std::make_error_code(std::errc::connection_refused), "the peer rejected"};
    event.info.private_data.assign(private_data.begin(), private_data.end());
    std::exchange(asker_, nullptr)->tell(event);
  }

  std::shared_ptr<FakeQp> asker_;
  const ConnectOptions options_;
  ConnectionInfo info_;
};

std::map<Endpoint, provider::IncomingHandler> listeners;

class FakeListener final : public provider::Listener {
 public:
  FakeListener(const Endpoint& at, provider::IncomingHandler handler) : endpoint_(at) {
    listeners.emplace(at, std::move(handler));
  }
  ~FakeListener() override { listeners.erase(endpoint_); }
  Endpoint endpoint() const override { return endpoint_; }

 private:
  const Endpoint endpoint_;
};

Outcome<void> FakeQp::connect(const Endpoint& to, const ConnectOptions& options) {
  const auto listener = listeners.find(to);
  if (listener == listeners.end()) {
    return fail(std::errc::connection_refused, "nobody listens there");
  }
  listener->second(std::make_unique<FakeIncoming>(shared_from_this(), options));
  return {};
}

class FakeAdapter final : public provider::Provider {
 public:
  FakeAdapter() {
    attributes_.name = "fake0";
    attributes_.provider = "fake";
    attributes_.offloads = {"everything"};
    attributes_.max_cqe = 64;
  }
  const DeviceAttributes& attributes() const override { return attributes_; }
  Outcome<std::shared_ptr<provider::Pd>> alloc_pd() override {
    return std::shared_ptr<provider::Pd>(std::make_shared<FakePd>());
  }
  Outcome<std::shared_ptr<provider::Mr>> register_memory(const std::shared_ptr<provider::Pd>&,
                                                         MutableBytes, Access) override {
    return std::shared_ptr<provider::Mr>(std::make_shared<FakeMr>(number_ += 2));
  }
  Outcome<std::shared_ptr<provider::Cq>> create_cq(std::uint32_t depth) override {
    if (depth > attributes_.max_cqe) return fail(std::errc::invalid_argument, "fake0: CQ too deep");
    return std::shared_ptr<provider::Cq>(std::make_shared<FakeCq>(depth, number_ += 2));
  }
  Outcome<std::shared_ptr<provider::Qp>> create_qp(const std::shared_ptr<provider::Pd>&,
                                                   provider::QpInit init) override {
    return std::shared_ptr<provider::Qp>(std::make_shared<FakeQp>(std::move(init), number_ += 2));
  }
  Outcome<std::shared_ptr<provider::Listener>> listen(const Endpoint& at,
                                                      const provider::ListenOptions&,
                                                      provider::IncomingHandler handler) override {
    if (listeners.contains(at)) return fail(std::errc::address_in_use, "fake0: endpoint in use");
    return std::shared_ptr<provider::Listener>(
        std::make_shared<FakeListener>(at, std::move(handler)));
  }
  Outcome<std::unique_ptr<provider::RequestWait>> await_request(StreamingSocket&,
                                                                const provider::AwaitOptions&,
                                                                provider::AwaitHandler) override {
    return fail(std::errc::not_supported, "fake0: it has no TCP connections");
  }
  void on_async_event(provider::AsyncHandler) override {}
  std::optional<AsyncEvent> wait_async_event(std::chrono::milliseconds) override {
    return AsyncEvent{AsyncEvent::Kind::kPathLost, 7, "fake0: no path"};
  }

 private:
  DeviceAttributes attributes_;
  std::uint32_t number_ = 0;
};

}  // namespace

std::shared_ptr<provider::Provider> make_fake_adapter() { return std::make_shared<FakeAdapter>(); }

}  // namespace iwarp::verbs::test
