#include "connection.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace iwarp::rsocket {

namespace {

/// Marks the work request ids of sends; those of receives are their slot's number.
constexpr std::uint64_t kSend = std::uint64_t{1} << 63;

int last_error() { return errno != 0 ? errno : EIO; }

std::uint64_t address_of(const std::byte* at) { return reinterpret_cast<std::uintptr_t>(at); }

/// Where the memory of a piece is, for a work request.
ibv_sge sge_of(const Region& region, RingPiece piece) {
  return {.addr = address_of(region.bytes(piece).data()),
          .length = static_cast<std::uint32_t>(piece.length),
          .lkey = region.mr()->lkey};
}

RingPiece slot(std::uint64_t index) { return {index * Message::kMaxSize, Message::kMaxSize}; }

}  // namespace

Region::~Region() { close(); }

void Region::close() {
  if (mr_ != nullptr) ibv_dereg_mr(mr_);
  mr_ = nullptr;
}

int Region::open(ibv_pd* pd, std::size_t size, unsigned access) {
  memory_.reset(new (std::nothrow) std::byte[size]());
  if (!memory_) return ENOMEM;
  size_ = size;
  mr_ = ibv_reg_mr(pd, memory_.get(), size, access);
  return mr_ != nullptr ? 0 : last_error();
}

Connection::~Connection() {
  if (has_qp_) rdma_destroy_qp(id_);
  if (cq_ != nullptr) ibv_destroy_cq(cq_);
  if (channel_ != nullptr) ibv_destroy_comp_channel(channel_);
  // The regions go before their protection domain.
  receive_buffer_.close();
  send_buffer_.close();
  incoming_.close();
  outgoing_.close();
  if (pd_ != nullptr) ibv_dealloc_pd(pd_);
}

int Connection::open(Sizes sizes) {
  sizes_ = sizes;
  // One domain per connection: peers need not trust each other (RFC 5042 §6).
  pd_ = ibv_alloc_pd(id_->verbs);
  if (pd_ == nullptr) return last_error();
  if (const int error = create_queues(); error != 0) return error;

  const unsigned remote = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  int error = receive_buffer_.open(pd_, sizes_.receive_buffer, remote);
  if (error == 0) error = send_buffer_.open(pd_, sizes_.send_buffer, 0);
  if (error == 0)
    error = incoming_.open(pd_, sizes_.receive_queue * Message::kMaxSize, IBV_ACCESS_LOCAL_WRITE);
  if (error == 0) error = outgoing_.open(pd_, sizes_.send_queue * Message::kMaxSize, 0);
  staging_ = RingSpace(sizes_.send_buffer);
  for (std::uint64_t each = 0; error == 0 && each < sizes_.receive_queue; ++each)
    error = post_receive(each);
  return error;
}

int Connection::create_queues() {
  channel_ = ibv_create_comp_channel(id_->verbs);
  if (channel_ == nullptr) return last_error();
  if (fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK) != 0)
    return last_error();
  const auto depth = static_cast<int>(sizes_.send_queue + sizes_.receive_queue);
  cq_ = ibv_create_cq(id_->verbs, depth, nullptr, channel_, 0);
  if (cq_ == nullptr) return last_error();

  ibv_qp_init_attr attributes{};
  attributes.send_cq = cq_;
  attributes.recv_cq = cq_;
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap = {.max_send_wr = sizes_.send_queue,
                    .max_recv_wr = sizes_.receive_queue,
                    .max_send_sge = 2,
                    .max_recv_sge = 1,
                    .max_inline_data = 0};
  if (rdma_create_qp(id_, pd_, &attributes) != 0) return last_error();
  has_qp_ = true;
  return 0;
}

Hello Connection::hello() const {
  return {.ring_address = address_of(receive_buffer_.bytes().data()),
          .ring_length = sizes_.receive_buffer,
          .ring_key = receive_buffer_.mr()->rkey,
          .messages = sizes_.receive_queue};
}

std::uint64_t Connection::send_room() const { return queue_room() >= kChain ? staging_.room() : 0; }

int Connection::post(const Write* write, const Message* message) {
  std::array<ibv_send_wr, kChain> requests{};
  std::array<ibv_sge, kChain + 1> sges{};
  InFlight chain{};
  if (write != nullptr) {
    sges[0] = sge_of(send_buffer_, write->from.first);
    sges[1] = sge_of(send_buffer_, write->from.second);
    ibv_send_wr& request = requests[chain.requests++];
    request.opcode = IBV_WR_RDMA_WRITE;
    request.sg_list = sges.data();
    request.num_sge = write->from.second.length > 0 ? 2 : 1;
    request.wr.rdma.remote_addr = write->address;
    request.wr.rdma.rkey = write->key;
    chain.staged = write->from.first.length + write->from.second.length;
  }
  if (message != nullptr) {
    // There are never more chains than places in the queue, so a slot for each place is enough.
    const RingPiece place = slot(chains_ % sizes_.send_queue);
    message->encode(outgoing_.bytes(place));
    sges[2] = sge_of(outgoing_, {place.offset, message->size()});
    if (chain.requests > 0) requests[0].next = &requests[1];
    ibv_send_wr& request = requests.at(chain.requests++);
    request.opcode = IBV_WR_SEND;
    request.sg_list = &sges[2];
    request.num_sge = 1;
  }
  return post_chain(requests, chain);
}

int Connection::post_chain(std::span<ibv_send_wr> requests, InFlight chain) {
  for (ibv_send_wr& each : requests) each.wr_id = kSend;
  // Completions come in the order of posting, so the last one speaks for the chain.
  requests[chain.requests - 1].send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr* bad = nullptr;
  if (const int error = ibv_post_send(id_->qp, requests.data(), &bad); error != 0) return error;
  in_flight_.push_back(chain);
  queued_ += chain.requests;
  ++chains_;
  return 0;
}

int Connection::post_receive(std::uint64_t index) {
  ibv_sge sge = sge_of(incoming_, slot(index));
  ibv_recv_wr request{};
  request.wr_id = index;
  request.sg_list = &sge;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  return ibv_post_recv(id_->qp, &request, &bad);
}

void Connection::poll(Polled& into) {
  std::array<ibv_wc, 16> completions;
  int found = 0;
  do {
    found = ibv_poll_cq(cq_, static_cast<int>(completions.size()), completions.data());
    for (int each = 0; each < found; ++each)
      take_completion(completions.at(static_cast<std::size_t>(each)), into);
  } while (found == static_cast<int>(completions.size()));
  if (found < 0) into.broken = true;
}

void Connection::take_completion(const ibv_wc& completion, Polled& into) {
  if (completion.status != IBV_WC_SUCCESS) {
    into.broken = true;
  } else if ((completion.wr_id & kSend) == 0) {
    take_message(completion, into);
  } else if (!in_flight_.empty()) {
    into.sent = true;
    staging_.release(in_flight_.front().staged);
    queued_ -= in_flight_.front().requests;
    in_flight_.pop_front();
  }
}

void Connection::take_message(const ibv_wc& completion, Polled& into) {
  const auto length = std::min<std::size_t>(completion.byte_len, Message::kMaxSize);
  const auto message = parse_message(incoming_.bytes(slot(completion.wr_id)).first(length));
  if (!message) {
    into.nonsense = true;
    return;
  }
  into.messages.push_back(*message);
  if (post_receive(completion.wr_id) != 0) into.broken = true;
}

int Connection::arm() {
  if (armed_) return 0;
  const int error = ibv_req_notify_cq(cq_, 0);
  armed_ = error == 0;
  return error;
}

bool Connection::take_events() {
  unsigned taken = 0;
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  while (ibv_get_cq_event(channel_, &cq, &context) == 0) ++taken;
  if (taken == 0) return false;
  ibv_ack_cq_events(cq_, taken);
  armed_ = false;
  return true;
}

}  // namespace iwarp::rsocket
