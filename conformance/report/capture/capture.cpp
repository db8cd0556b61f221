#include "report/capture/capture.hpp"

#include "report/capture/tcp_packets.hpp"
#include "report/text.hpp"

namespace iwarp::conform {
namespace {

std::string comment_on(const Result& result) {
  std::string text = std::string(result.test.id) + ": " + std::string(result.test.title) + ". " +
                     std::string(name_of(result.verdict));
  if (!result.text.empty()) text += ": " + clean(result.text);
  return text;
}

void add_event(const Event& event, TcpPackets& connection, WallTime time) {
  using Side = TcpPackets::Side;
  switch (event.kind) {
    case Event::Kind::kConnected: return connection.handshake(time);
    case Event::Kind::kRawSent: return connection.data(Side::kTester, event.octets, time);
    case Event::Kind::kRawReceived: return connection.data(Side::kTarget, event.octets, time);
    case Event::Kind::kFinSent: return connection.finish(Side::kTester, time);
    case Event::Kind::kFinReceived: return connection.finish(Side::kTarget, time);
    case Event::Kind::kResetSent: return connection.reset(Side::kTester, time);
    case Event::Kind::kResetReceived: return connection.reset(Side::kTarget, time);
    case Event::Kind::kNote:
    case Event::Kind::kAgentCommand:
    case Event::Kind::kAgentReply:
    case Event::Kind::kStartupSent:
    case Event::Kind::kStartupReceived:
    case Event::Kind::kFpduSent:
    case Event::Kind::kFpduReceived:
    case Event::Kind::kExpectation:
    case Event::Kind::kFailure: return;
  }
}

}  // namespace

Octets capture_of(const Result& result, std::string_view application) {
  PcapngWriter file(application, comment_on(result));
  const Transcript& transcript = result.transcript;
  std::vector<TcpPackets> connections;
  for (const ConnectionEnds& ends : transcript.connections()) {
    connections.emplace_back(ends, static_cast<std::uint16_t>(connections.size()), file);
  }
  for (const Event& event : transcript.events()) {
    if (event.connection >= connections.size()) continue;
    const auto since = std::chrono::duration_cast<WallTime::duration>(event.at);
    add_event(event, connections[event.connection], transcript.started_at() + since);
  }
  return file.take();
}

}  // namespace iwarp::conform
