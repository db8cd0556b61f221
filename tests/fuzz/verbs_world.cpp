#include "fuzz/verbs_world.hpp"

#include <algorithm>

namespace iwarp::fuzz {
namespace {

using namespace std::chrono_literals;
using verbs::Access;
using verbs::simtest::PairOptions;
using verbs::simtest::SimEnd;
using verbs::soft::Reserved;
using verbs::soft::Role;
using verbs::soft::SoftFastMr;
using verbs::soft::SoftMw;
using verbs::soft::SoftPd;

constexpr std::size_t kSize = 192;
// A close takes at most the time to send what was posted and that until the peer's FIN.
constexpr auto kLongestEnd = 2 * verbs::kDefaultLinger;

constexpr Access kAll = Access::kLocalWrite | Access::kRemoteWrite | Access::kRemoteRead |
                        Access::kRemoteAtomic | Access::kWindowBind;
constexpr Access kAccess[] = {kAll,
                              Access::kRemoteRead,
                              Access::kLocalWrite | Access::kWindowBind,
                              Access::kLocalWrite,
                              Access::kNone,
                              kAll | Access::kRemoteInvalidate,
                              kAll | Access::kRemoteInvalidate,
                              kAll | Access::kZeroBased};

verbs::QpCapacity some_capacity(Input& input) {
  verbs::QpCapacity capacity;
  const std::uint8_t sizes = input.octet();
  capacity.max_send_wr = 1U + sizes % 16U;
  capacity.max_recv_wr = 1U + sizes / 16U;
  capacity.max_send_sge = capacity.max_recv_sge = 3;
  capacity.max_inline = 64;
  return capacity;
}

tcp_offload::SimOptions some_network(Input& input) {
  tcp_offload::SimOptions options;
  options.emss = input.pick<std::size_t>({1460, 140, 536, 65483, 8});
  options.send_buffer = input.pick<std::size_t>({65536, 100, 4096, 8});
  options.receive_buffer = input.pick<std::size_t>({65536, 100, 4096, 8});
  const std::uint8_t pieces = input.octet();
  if ((pieces & 1U) != 0) options.segment = {1, 1U + pieces};
  if ((pieces & 2U) != 0) options.lend = {1, 1U + pieces};
  if ((pieces & 4U) != 0) options.accept = {1, 1U + pieces};
  if ((pieces & 8U) != 0) options.lending = tcp_offload::SimLending::kScratch;
  return options;
}

mpa::Depths some_depths(Input& input) {
  const std::uint8_t depths = input.octet();
  return {static_cast<std::uint16_t>(depths % 5U), static_cast<std::uint16_t>(depths / 5U % 5U)};
}

PairOptions some_options(Input& input) {
  PairOptions options;
  options.rtr = input.pick({mpa::Rtr::kNone, mpa::Rtr::kWrite, mpa::Rtr::kRead, mpa::Rtr::kSend});
  Choices choices(input.octet());
  options.crc = choices.next(mpa::Crc::kOn, mpa::Crc::kOff);
  options.to_server = choices.next(mpa::Markers::kOff, mpa::Markers::kOn);
  options.to_client = choices.next(mpa::Markers::kOff, mpa::Markers::kOn);
  options.client.rfc7306 = !choices.next();
  if (choices.next()) options.client.srq = {.max_wr = 6, .max_sge = 3, .share = 0};
  if (choices.next() && options.client.srq) options.client.srq->share = 3;
  options.client.signaling = choices.next(verbs::Signaling::kPerRequest, verbs::Signaling::kAll);
  if (choices.next()) options.client.cq_depth = 3;
  // Those of whichever role this end has.
  options.client_depths = options.server_depths = some_depths(input);
  options.client.capacity = some_capacity(input);
  options.net = some_network(input);
  options.seed = input.octet();
  return options;
}

}  // namespace

VerbsWorld::Setup::Setup(Input& input)
    : options(some_options(input)),
      role((input.octet() & 1U) != 0 ? Role::kResponder : Role::kInitiator) {}

VerbsWorld::VerbsWorld(const Setup& setup)
    : pair_(setup.options, setup.role),
      fast_memory_(kSize),
      window1_(make_window(verbs::WindowType::k1)),
      window2_(make_window(verbs::WindowType::k2)),
      fast_(make_fast_region()),
      all_signaled_(setup.options.client.signaling == verbs::Signaling::kAll) {
  const auto other_pd = std::make_shared<SoftPd>(ddp::ProtectionDomainId{99});
  for (std::size_t i = 0; i < kRegions; ++i) {
    Region& region = pair_.end.region(kSize, kAccess[i], i == kForeign ? other_pd : pair_.end.pd);
    region.memory.fill(std::byte{0x33});
    regions_.push_back(&region);
    keys_.at(i) = region.key();
  }
}

std::shared_ptr<SoftMw> VerbsWorld::make_window(verbs::WindowType type) {
  const auto& registry = pair_.end.host->registry;
  const auto kind = type == verbs::WindowType::k1 ? Reserved::kWindow1 : Reserved::kWindow2;
  return std::make_shared<SoftMw>(registry, pair_.end.pd, type,
                                  registry->reserve(kind, pair_.end.pd->id()).value());
}

std::shared_ptr<SoftFastMr> VerbsWorld::make_fast_region() {
  const auto& registry = pair_.end.host->registry;
  return std::make_shared<SoftFastMr>(
      registry, pair_.end.pd, registry->reserve(Reserved::kFastRegion, pair_.end.pd->id()).value());
}

// ---- The peer ----

void VerbsWorld::send(ConstBytes ulpdu) {
  const Exact exact(ulpdu);
  pair_.peer.send(exact.bytes());
  follow(exact.bytes());
}

// The requests that came and await a response, in their order.
void VerbsWorld::find_requests() {
  for (; looked_at_ < pair_.peer.came.size(); ++looked_at_) {
    const auto parsed = ddp::parse(pair_.peer.came[looked_at_]);
    require(parsed.has_value(), "what leaves is a segment");
    const auto* segment = std::get_if<ddp::UntaggedSegment>(&*parsed);
    if (segment == nullptr || segment->header.qn != rdmap::kReadRequestQueueNumber) continue;
    if (const auto read = rdmap::ReadRequest::parse(segment->payload)) {
      requests_.push_back({rdmap::Owed::kReadResponse, read->sink_stag, read->size});
    } else if (const auto atomic = rdmap::AtomicRequest::parse(segment->payload)) {
      requests_.push_back({rdmap::Owed::kAtomicResponse, Stag{atomic->id}, 0});
    }
  }
}

std::optional<PeerMessages::Due> VerbsWorld::due() const {
  if (answered_ >= requests_.size()) return std::nullopt;
  return requests_[answered_];
}

Stag VerbsWorld::some_stag(Input& input) {
  const std::uint8_t which = input.octet();
  if (which < 0x80) return keys_.at(which % kRegions);
  if (which < 0x98) return window1_->rkey();
  if (which < 0xB0) return window2_->rkey();
  if (which < 0xC8) return fast_->stag();
  if (which < 0xE0) return requests_.empty() ? Stag{} : requests_.back().sink;
  return Stag{keys_.at(which % kRegions).value() ^ input.word16()};
}

std::uint64_t VerbsWorld::address(const Region& region, std::size_t at) const {
  return reinterpret_cast<std::uintptr_t>(region.memory.bytes().data()) + at;
}

std::uint64_t VerbsWorld::some_offset(Input& input, Stag stag) {
  std::uint64_t base = 0;
  for (std::size_t i = 0; i < kZeroBased; ++i) {
    if (keys_.at(i) == stag) base = address(*regions_[i], 0);
  }
  if (stag == fast_->stag()) base = reinterpret_cast<std::uintptr_t>(fast_memory_.data());
  if (stag == window1_->rkey() || stag == window2_->rkey()) {
    base = address(*regions_[kBindable], 0);
  }
  const std::uint8_t at = input.octet();
  switch (at >> 5U) {
    case 7: return base - (at & 0x1FU);
    case 6: return base + kSize - (at & 0x1FU);
    case 5: return input.word64();
    default: return base + at;
  }
}

void VerbsWorld::disturb(Input& input) {
  const std::uint8_t what = input.octet();
  auto& peer = pair_.peer;
  switch (what % 8) {
    case 0: return peer.finish();
    case 1: return peer.reset();
    case 2: peer.reads = !peer.reads; return;
    case 3: return pair_.link.from(tcp_offload::SimSide::kConnector).set_emss(1U + what);
    case 4:
      return pair_.link.from(tcp_offload::SimSide::kAcceptor).set_segments({1, 1U + what / 8U});
    default: {  // an FPDU with a wrong octet
      const Ulpdu ulpdu = message(input);
      auto octets = peer.frame(ulpdu);
      octets[input.octet() % octets.size()] ^= std::byte{1};
      return peer.send_octets(octets);
    }
  }
}

// ---- The end ----

void VerbsWorld::pass_time(Input& input) {
  const std::uint8_t octet = input.octet();
  constexpr std::chrono::microseconds kUnits[] = {10us, 1ms, 100ms, 1s};
  pair_.run_for(kUnits[octet & 3U] * (1 + octet / 32));
  find_requests();
}

void VerbsWorld::pass_some_time() {
  // A few times from one end to the other; run_for() would go on to the next tick of the clock.
  for (int i = 0; i < 4; ++i) {
    pair_.turn();
    pair_.network.net.advance(10us);
  }
  find_requests();
}

void VerbsWorld::end_connection(std::uint8_t how) {
  auto& qp = *pair_.end.qp;
  switch (how % 6) {
    case 0: pair_.peer.reads = true; return qp.disconnect();
    case 1: pair_.peer.reads = false; return qp.disconnect();
    case 2: return qp.abort();
    case 3: return pair_.peer.finish();
    case 4: return pair_.peer.reset();
    default: qp.disconnect(); return pair_.peer.finish();
  }
}

void VerbsWorld::finish(Input& input) {
  pair_.end.collects = true;
  const std::uint8_t how = input.octet();
  if (how >= 0xF0) {  // destroyed as it is
    pair_.end.qp.reset();
    pair_.run_for(kLongestEnd);
    require(pair_.end.host->serving() == 0, "a destroyed queue pair is served no more");
    return check_memory();
  }
  end_connection(how);
  require(pair_.run_until([this] { return pair_.end.closed(); }, kLongestEnd),
          "a connection ends in bounded time");
  pair_.run_for(1ms);
  post_send(input);
  post_receive(input);
  pair_.run_for(1ms);
  check_memory();
  check_completions();
}

void VerbsWorld::check_memory() {
  require(pair_.end.intact(), "nothing is written beside a region");
  const auto untouched = [](std::byte b) { return b == std::byte{0x33}; };
  for (const std::size_t i : {kReadable, kSource, kForeign}) {
    const ConstBytes memory = regions_[i]->memory.bytes();
    require(std::all_of(memory.begin(), memory.end(), untouched),
            "nothing is written where nobody may write");
  }
  for (std::size_t i = 0; i < kRegions; ++i) {
    if (!deregistered_.at(i)) continue;
    require(equal(*deregistered_.at(i), regions_[i]->memory.bytes()),
            "nothing is written into what is the program's again");
  }
}

namespace {

bool overran(const SimEnd& end) {
  return std::any_of(end.host->reports.begin(), end.host->reports.end(), [](const auto& report) {
    return report.kind == verbs::AsyncEvent::Kind::kCqOverrun;
  });
}

// Each id once at most, and in the order they were posted.
void check_order(const std::vector<verbs::Completion>& completions) {
  std::uint64_t last = 0;
  for (const verbs::Completion& completion : completions) {
    require(completion.wr_id > last, "requests complete once, in their order");
    last = completion.wr_id;
  }
}

bool has_completion(const std::vector<verbs::Completion>& completions, std::uint64_t id) {
  return std::any_of(completions.begin(), completions.end(),
                     [id](const auto& completion) { return completion.wr_id == id; });
}

}  // namespace

void VerbsWorld::check_completions() {
  const SimEnd& end = pair_.end;
  require(end.qp->drained(), "what was posted is done with");
  check_order(end.sent);
  check_order(end.received);
  if (overran(end)) return;
  for (const Posted& posted : sends_) {
    require(!posted.reported || has_completion(end.sent, posted.id), "each request completes");
  }
  for (const Posted& posted : receives_) {
    require(end.srq || has_completion(end.received, posted.id), "each receive completes");
  }
  require(end.sent.size() <= sends_.size() && end.received.size() <= receives_.size(),
          "nothing completes that was not posted");
}

}  // namespace iwarp::fuzz
