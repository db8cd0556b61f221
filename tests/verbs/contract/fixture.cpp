#include "verbs/contract/fixture.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "support/random.hpp"
#include "verbs/loopback_pair.hpp"

namespace iwarp::verbs::contract {

using test::must;

Bytes pattern(std::size_t size, std::uint64_t seed) {
  Bytes bytes(size);
  iwarp::test::Random(seed).fill(bytes);
  return bytes;
}

// ---- Told ----

void Told::add(const ConnectionEvent& event) {
  {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
  }
  if (then) then(event);
}

std::size_t Told::count() const {
  const std::lock_guard lock(mutex_);
  return events_.size();
}

std::size_t Told::count(Kind kind) const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(events_.begin(), events_.end(),
                    [kind](const ConnectionEvent& event) { return event.kind == kind; }));
}

ConnectionEvent Told::first(Kind kind) const {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(events_.begin(), events_.end(),
                   [kind](const ConnectionEvent& event) { return event.kind == kind; });
  return found == events_.end() ? ConnectionEvent() : *found;
}

// ---- Buffer ----

Buffer::Buffer(ProtectionDomain& pd, std::size_t size, Access access)
    : memory(size), region(must(pd.register_memory(memory.bytes(), access))) {}

void Buffer::fill(const Bytes& content) {
  std::copy(content.begin(), content.end(), memory.bytes().begin());
}

Bytes Buffer::content(std::size_t at, std::size_t length) const {
  const ConstBytes part = memory.bytes().subspan(at, length);
  return {part.begin(), part.end()};
}

// ---- Side ----

Side::Side(Device& on, std::uint32_t depth)
    : device(on),
      pd(must(on.alloc_pd())),
      send_cq(must(on.create_cq(depth))),
      recv_cq(must(on.create_cq(depth))) {}

void Side::collect() {
  std::array<Completion, 32> some;
  const auto take = [&some](std::optional<CompletionQueue>& cq, std::vector<Completion>& into) {
    if (!cq) return;
    std::size_t count = 0;
    do {
      count = cq->poll(some);
      into.insert(into.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
    } while (count == some.size());
  };
  take(send_cq, sent);
  take(recv_cq, received);
}

Buffer& Side::buffer(std::size_t size, Access access) {
  return buffers_.emplace_back(*pd, size, access);
}

Buffer& Side::buffer(const Bytes& content, Access access) {
  Buffer& made = buffer(content.size(), access);
  made.fill(content);
  return made;
}

bool Side::intact() const {
  return std::all_of(buffers_.begin(), buffers_.end(),
                     [](const Buffer& buffer) { return buffer.memory.intact(); });
}

// ---- End ----

End::End(Side& of, QpOptions options) : side(of) {
  options.on_event = [heard = told](const ConnectionEvent& event) { heard->add(event); };
  qp = must(side.pd->create_qp(*side.send_cq, *side.recv_cq, std::move(options)));
}

// ---- Listening ----

Listening::Listening(Device& device, const Endpoint& at, const ListenOptions& options)
    : listener(must(device.listen(at, options, [requests = requests_](ConnectionRequest request) {
        const std::lock_guard lock(requests->mutex);
        requests->waiting.push_back(std::move(request));
      }))) {}

bool Listening::has_request() const {
  const std::lock_guard lock(requests_->mutex);
  return !requests_->waiting.empty();
}

ConnectionRequest Listening::take() {
  const std::lock_guard lock(requests_->mutex);
  ConnectionRequest oldest = std::move(requests_->waiting.front());
  requests_->waiting.pop_front();
  return oldest;
}

// ---- Contract ----

bool Contract::until(const std::function<bool()>& condition) {
  return world->until([&] {
    client.collect();
    server.collect();
    return condition();
  });
}

void Contract::settle() {
  world->settle();
  client.collect();
  server.collect();
}

std::optional<ConnectionRequest> Contract::ask(End& from, Listening& at,
                                               const ConnectOptions& asked) {
  const auto started = from.qp->start_connect(at.endpoint(), asked);
  EXPECT_TRUE(started) << started.error().message;
  if (!started) return std::nullopt;
  const bool came = until([&] { return at.has_request() || from.told->count() != 0; });
  EXPECT_TRUE(came && at.has_request()) << from.told->first(Kind::kFailed).error.message;
  if (!at.has_request()) return std::nullopt;
  return at.take();
}

bool Contract::connect(End& from, End& to, const ConnectOptions& asked,
                       const ConnectOptions& answered) {
  Listening listening = listen();
  auto request = ask(from, listening, asked);
  if (!request) return false;
  const auto accepted = request->start_accept(*to.qp, answered);
  EXPECT_TRUE(accepted) << accepted.error().message;
  const bool connected =
      accepted &&
      until([&] { return from.told->has(Kind::kEstablished) && to.told->has(Kind::kEstablished); });
  if (connected) world->on_connected();
  return connected;
}

bool Contract::until_over(const End& one, const End& other) {
  return until([&] { return one.over() && other.over(); });
}

Completion Contract::run(End& end, const SendWr& request) {
  const std::size_t before = end.side.sent.size();
  post(end, request);
  if (until([&] { return end.side.sent.size() > before; })) return end.side.sent[before];
  ADD_FAILURE() << "request " << request.wr_id << " does not complete";
  Completion none;
  none.status = Status::kFatal;
  return none;
}

void Contract::expect_service(End& from, End& to) {
  const Bytes sent = pattern(100, 99);
  const Buffer& source = from.side.buffer(sent);
  const Buffer& sink = to.side.buffer(sent.size());
  const Sge gather = source.sge();
  const Sge scatter = sink.sge();
  const std::size_t before = to.side.received.size();
  post(to, RecvWr{990, {&scatter, 1}});
  EXPECT_EQ(run(from, send_of(991, {&gather, 1})).status, Status::kSuccess);
  ASSERT_TRUE(until([&] { return to.side.received.size() > before; }));
  EXPECT_EQ(to.side.received[before].status, Status::kSuccess);
  EXPECT_EQ(to.side.received[before].qp_number, to.qp->number());
  EXPECT_EQ(sink.content(), sent);
}

// ---- Requests ----

void post(End& end, const SendWr& request) {
  const auto posted = end.qp->post_send(request);
  EXPECT_TRUE(posted) << "request " << request.wr_id << ": "
                      << std::make_error_code(refusal(posted)).message();
}

void post(End& end, const RecvWr& request) {
  const auto posted = end.qp->post_receive(request);
  EXPECT_TRUE(posted) << "receive " << request.wr_id << ": "
                      << std::make_error_code(refusal(posted)).message();
}

SendWr send_of(std::uint64_t id, std::span<const Sge> sges) { return {.wr_id = id, .sges = sges}; }

SendWr write_of(std::uint64_t id, std::span<const Sge> sges, const Buffer& to, std::size_t at) {
  return {.wr_id = id,
          .opcode = Opcode::kWrite,
          .sges = sges,
          .remote_stag = to.key(),
          .remote_offset = to.to(at)};
}

SendWr read_of(std::uint64_t id, std::span<const Sge> sges, const Buffer& from, std::size_t at) {
  return {.wr_id = id,
          .opcode = Opcode::kRead,
          .sges = sges,
          .remote_stag = from.key(),
          .remote_offset = from.to(at)};
}

std::vector<std::uint64_t> ids(const std::vector<Completion>& completions) {
  std::vector<std::uint64_t> all;
  for (const Completion& completion : completions) all.push_back(completion.wr_id);
  return all;
}

std::vector<Status> statuses(const std::vector<Completion>& completions) {
  std::vector<Status> all;
  for (const Completion& completion : completions) all.push_back(completion.status);
  return all;
}

std::errc refusal(const Result<void, PostError>& posted) {
  return posted ? std::errc{} : posted.error().code;
}

}  // namespace iwarp::verbs::contract
