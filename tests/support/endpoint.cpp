#include "support/endpoint.hpp"

#include <algorithm>

namespace iwarp::test {

using rdmap::Operation;
using rdmap::Source;

Endpoint::Endpoint(const EndpointOptions& options)
    : stags(options.secret),
      reads(options.ord, static_cast<std::uint32_t>(options.secret * 0x2545F491U)),
      responses(options.ird),
      requests(options.depth, options.max_sges, options.max_inline),
      receiver({stags, kPd, receives, reads, responses}, options.first, options.extensions),
      transmitter({requests, responses, reads}, options.rtr) {}

Region& Endpoint::enable(std::size_t size, ddp::Rights rights, ddp::ProtectionDomainId pd,
                         std::uint64_t base) {
  Region& region = regions_.emplace_back(Region{GuardedMemory(size), TaggedOffset{base}, {}});
  region.stag = stags.enable({region.memory.data(), region.base, size, pd, rights}).value();
  return region;
}

void Endpoint::post(rdmap::Request request, const std::vector<ddp::Sge>& sges) {
  request.sge_count = static_cast<std::uint16_t>(sges.size());
  request.length = static_cast<std::uint32_t>(ddp::total_length(sges));
  std::copy(sges.begin(), sges.end(), requests.vacant_sges().begin());
  requests.vacant() = request;
  requests.append();
}

void Endpoint::post_inline(rdmap::Request request, ConstBytes payload) {
  request.payload_in = rdmap::PayloadIn::kInline;
  request.length = static_cast<std::uint32_t>(payload.size());
  std::copy(payload.begin(), payload.end(), requests.vacant_inline().begin());
  requests.vacant() = request;
  requests.append();
}

bool Endpoint::append(Stag stag, TaggedOffset to, std::uint32_t length, ddp::Rights rights,
                      Ulpdu& ulpdu) {
  const auto pin = stags.pin(stag, kPd, rights, to, length);
  if (!pin) return false;
  ulpdu.insert(ulpdu.end(), pin->memory(), pin->memory() + length);
  return true;
}

bool Endpoint::gather_list(std::span<const ddp::Sge> list, std::uint32_t offset,
                           std::uint32_t length, Ulpdu& ulpdu) {
  for (const ddp::Sge& sge : list) {
    const std::uint32_t skip = std::min(offset, sge.length);
    const std::uint32_t size = std::min(length, sge.length - skip);
    if (size != 0 &&
        !append(sge.lkey, TaggedOffset{sge.address + skip}, size, ddp::Rights::kNone, ulpdu)) {
      return false;
    }
    offset -= skip;
    length -= size;
  }
  return length == 0;
}

bool Endpoint::gather(const rdmap::OutgoingSegment& segment, Ulpdu& ulpdu) {
  if (segment.length == 0) return true;
  if (segment.source == Source::kTerminate) {
    const ConstBytes bytes = transmitter.terminate_bytes();
    ulpdu.insert(ulpdu.end(), bytes.begin(), bytes.end());
    return true;
  }
  if (segment.source == Source::kResponse) {
    const rdmap::ReadRequest& asked = responses.at(segment.position).read;
    return append(asked.source_stag, TaggedOffset{asked.source_to.value() + segment.offset},
                  segment.length, ddp::Rights::kRemoteRead, ulpdu);
  }
  if (requests.at(segment.position).payload_in == rdmap::PayloadIn::kInline) {
    const ConstBytes bytes =
        requests.inline_data(segment.position).subspan(segment.offset, segment.length);
    ulpdu.insert(ulpdu.end(), bytes.begin(), bytes.end());
    return true;
  }
  return gather_list(requests.sges(segment.position), segment.offset, segment.length, ulpdu);
}

std::optional<Ulpdu> Endpoint::assemble(const rdmap::OutgoingSegment& segment) {
  const ConstBytes header = segment.header_bytes();
  Ulpdu ulpdu(header.begin(), header.end());
  if (!gather(segment, ulpdu)) return std::nullopt;
  return ulpdu;
}

std::vector<Ulpdu> Endpoint::transmit(std::size_t mulpdu, std::size_t most) {
  std::vector<Ulpdu> sent;
  while (sent.size() < most) {
    const auto segment = transmitter.next(mulpdu);
    if (!segment) break;
    const auto ulpdu = assemble(*segment);
    if (!ulpdu) break;
    sent.push_back(*ulpdu);
  }
  responses.planned(transmitter.cursor().response);
  retire();
  return sent;
}

void Endpoint::retire() {
  responses.retire(transmitter.cursor().response);
  while (requests.head() != transmitter.cursor().request) {
    const rdmap::Request& oldest = requests.at(requests.head());
    const bool waits = rdmap::awaits_response(oldest.operation);
    if (waits && static_cast<std::int32_t>(reads.finished() - oldest.read_index) <= 0) return;
    requests.retire();
    ++retired_;
  }
}

Result<rdmap::Event, rdmap::Fault> Endpoint::receive(ConstBytes ulpdu) {
  auto result = receiver.on_ulpdu(ulpdu);
  if (!result) transmitter.terminate(result.error().terminate);
  return result;
}

bool Endpoint::canaries_intact() const {
  return std::all_of(regions_.begin(), regions_.end(),
                     [](const Region& region) { return region.memory.intact(); });
}

}  // namespace iwarp::test
