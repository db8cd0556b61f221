#include "peer_endpoint.hpp"

#include <cstdio>
#include <thread>
#include <utility>

#include "address.hpp"

namespace iwarp::interop {
namespace {

constexpr std::uint32_t kRequests = 16;

std::string in_numbers(const verbs::TerminateInfo& info) {
  return fmt::format("layer {} type {} code {}", info.layer, info.type, info.code);
}

}  // namespace

PeerEndpoint::PeerEndpoint(verbs::Device& device, const PeerOptions& options)
    : options_(options),
      device_(device),
      domain_(cli::require(device.alloc_pd(), "protection domain")),
      queue_(cli::require(device.create_cq(2 * kRequests), "completion queue")) {
  options_.connect.timeout = options_.timeout;
  verbs::QpOptions queues;
  queues.capacity.max_send_wr = queues.capacity.max_recv_wr = kRequests;
  queues.signaling = verbs::Signaling::kAll;
  queues.max_fpdu = options.max_fpdu;
  queue_pair_.emplace(cli::require(domain_.create_qp(queue_, std::move(queues)), "queue pair"));
}

verbs::MemoryRegion PeerEndpoint::register_memory(MutableBytes memory, verbs::Access access) {
  return cli::require(domain_.register_memory(memory, access), "memory region");
}

void PeerEndpoint::post_receive(const verbs::MemoryRegion& region) {
  const verbs::Sge sge = region.sge();
  verbs::RecvWr request;
  request.sges = {&sge, 1};
  if (!queue_pair_->post_receive(request)) throw cli::CommandError("cannot post a receive");
}

void PeerEndpoint::establish(Role role) {
  if (role == Role::kInitiator) {
    info_ = cli::require(queue_pair_->connect(options_.address, options_.connect));
    std::this_thread::sleep_for(options_.settle);
    return;
  }
  auto listener = cli::require(device_.listen(options_.address), "cannot listen");
  std::fprintf(stderr, "iwarp-peer: listening on %s\n",
               cli::to_string(listener.endpoint()).c_str());
  auto request = listener.next(options_.timeout);
  if (!request) throw cli::CommandError("nobody connected in time");
  info_ = cli::require(request->accept(*queue_pair_, options_.connect), "cannot accept");
}

void PeerEndpoint::send(const verbs::MemoryRegion& region) {
  const verbs::Sge sge = region.sge();
  verbs::SendWr request;
  request.opcode = verbs::Opcode::kSend;
  request.sges = {&sge, 1};
  post(request);
  await(verbs::CompletionOpcode::kSend);
}

void PeerEndpoint::read(const verbs::MemoryRegion& region, const verbs::RemoteBuffer& remote) {
  const verbs::Sge sge = region.sge(0, static_cast<std::uint32_t>(remote.length));
  verbs::SendWr request;
  request.opcode = verbs::Opcode::kRead;
  request.sges = {&sge, 1};
  request.remote_stag = remote.stag;
  request.remote_offset = remote.offset;
  post(request);
  await(verbs::CompletionOpcode::kRead);
}

void PeerEndpoint::write(const verbs::MemoryRegion& region, const verbs::RemoteBuffer& remote) {
  const verbs::Sge sge = region.sge(0, static_cast<std::uint32_t>(remote.length));
  verbs::SendWr request;
  request.opcode = verbs::Opcode::kWrite;
  request.sges = {&sge, 1};
  request.remote_stag = remote.stag;
  request.remote_offset = remote.offset;
  post(request);
  await(verbs::CompletionOpcode::kWrite);
}

std::uint32_t PeerEndpoint::receive() {
  while (!early_) {
    const verbs::Completion completion = next();
    if (completion.opcode == verbs::CompletionOpcode::kReceive) early_ = completion.byte_length;
  }
  return *std::exchange(early_, std::nullopt);
}

void PeerEndpoint::disconnect() {
  queue_pair_->disconnect();
  if (!queue_pair_->wait_disconnected(options_.timeout)) {
    throw cli::CommandError("the peer did not close the connection in time");
  }
}

void PeerEndpoint::post(const verbs::SendWr& request) {
  if (const auto outcome = queue_pair_->post_send(request); !outcome) {
    if (outcome.error().code == std::errc::not_connected) ended(verbs::Status::kFlushed);
    throw cli::CommandError("post: " + std::make_error_code(outcome.error().code).message());
  }
}

void PeerEndpoint::await(verbs::CompletionOpcode opcode) {
  while (true) {
    const verbs::Completion completion = next();
    if (completion.opcode == opcode) return;
    if (completion.opcode == verbs::CompletionOpcode::kReceive) early_ = completion.byte_length;
  }
}

verbs::Completion PeerEndpoint::next() {
  const auto completion = queue_.wait(options_.timeout);
  if (!completion) throw cli::CommandError("no completion in time");
  if (completion->status != verbs::Status::kSuccess) ended(completion->status);
  return *completion;
}

void PeerEndpoint::ended(verbs::Status status) const {
  std::string why = verbs::to_string(status);
  if (const auto sent = queue_pair_->terminate_sent()) {
    why += ", sent a Terminate of " + in_numbers(*sent);
  }
  if (const auto received = queue_pair_->terminate_received()) {
    why += ", received a Terminate of " + in_numbers(*received);
  }
  const bool clean = status == verbs::Status::kFlushed && !queue_pair_->terminate_sent() &&
                     !queue_pair_->terminate_received();
  if (clean) throw ConnectionEnded("the connection ended");
  throw cli::CommandError("a request failed: " + why);
}

}  // namespace iwarp::interop
