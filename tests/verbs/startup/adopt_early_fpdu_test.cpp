#include "iwarp/base/gather_list.hpp"
#include "iwarp/mpa/framer.hpp"
#include "iwarp/mpa/startup_frame.hpp"
#include "support/segments.hpp"
#include "verbs/adopt_socket_support.hpp"

/// Peers that send FPDUs before anybody has asked for them: what was read of those is not lost.
namespace iwarp::verbs::test {
namespace {

class FramedPeer {
 public:
  void add(ConstBytes ulpdu) {
    GatherList list(mpa::Framer::arena_needed(ulpdu.size(), ulpdu.size(), mpa::Markers::kOff),
                    mpa::Framer::pieces_needed(1, ulpdu.size(), mpa::Markers::kOff));
    framer_.frame(ulpdu, {}, mpa::PayloadUse::kCopy, list);
    Bytes octets_of_it(list.size());
    list.extract(0, octets_of_it);
    octets.insert(octets.end(), octets_of_it.begin(), octets_of_it.end());
  }
  static Bytes reply() {
    mpa::StartupFrame frame;
    frame.kind = mpa::FrameKind::kReply;
    frame.enhanced.emplace();
    frame.enhanced->ird = frame.enhanced->ord = mpa::ReadDepth(16);
    Bytes bytes(frame.size());
    frame.encode(bytes).value();
    return bytes;
  }

  Bytes octets = reply();

 private:
  mpa::Framer framer_{mpa::Crc::kOn, mpa::Markers::kOff};
};

ConnectOptions client_server() {
  ConnectOptions options;
  options.peer_to_peer = false;
  return options;
}

// More than one turn of the receive half takes: none of it shows on the descriptor.
TEST_F(AdoptSocket, PlacesMegabytesThatWereReadBehindTheReply) {
  constexpr std::size_t kPiece = 30'000, kPieces = 120;
  Buffer target(client_.pd, kPiece * kPieces, Access::kLocalWrite | Access::kRemoteWrite);
  Buffer message(client_.pd, 10, Access::kLocalWrite);
  const Sge in = message.sge();
  ASSERT_TRUE(client_qp_.post_receive({.wr_id = 5, .sges = {&in, 1}}));
  const Bytes piece = iwarp::test::pattern(kPiece);
  FramedPeer peer;
  for (std::size_t i = 0; i < kPieces; ++i) {
    peer.add(iwarp::test::segment(iwarp::test::tagged(rdmap::Opcode::kWrite, target.region->rkey(),
                                                      TaggedOffset{target.to(i * kPiece)}),
                                  piece));
  }
  peer.add(
      iwarp::test::segment(iwarp::test::untagged(rdmap::Opcode::kSend, 1), octets("all of it!")));
  StreamingSocket socket(sockets_.client.release(), peer.octets);
  const auto adopted = client_qp_.adopt(socket, client_server());
  ASSERT_TRUE(adopted) << adopted.error().message;
  const auto received = client_.cq.wait(kPatience);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->status, Status::kSuccess);
  EXPECT_EQ(message.memory, octets("all of it!"));
  for (std::size_t i = 0; i < kPieces; ++i) {
    ASSERT_EQ(std::memcmp(target.memory.data() + i * kPiece, piece.data(), kPiece), 0) << i;
  }
}

TEST_F(AdoptSocket, TakesFpdusCutBetweenWhatWasReadAndTheSocket) {
  FramedPeer peer;
  peer.add(iwarp::test::segment(iwarp::test::untagged(rdmap::Opcode::kSend, 1), octets("one")));
  peer.add(iwarp::test::segment(iwarp::test::untagged(rdmap::Opcode::kSend, 2), octets("two")));
  for (std::size_t cut = 0; cut <= peer.octets.size(); cut += 3) {
    Sockets sockets;
    QueuePair qp = client_.make_qp();
    Buffer messages(client_.pd, 6, Access::kLocalWrite);
    const Sge first = messages.sge(0, 3), second = messages.sge(3, 3);
    ASSERT_TRUE(qp.post_receive({.wr_id = 1, .sges = {&first, 1}}));
    ASSERT_TRUE(qp.post_receive({.wr_id = 2, .sges = {&second, 1}}));
    const auto at = peer.octets.begin() + static_cast<std::ptrdiff_t>(cut);
    StreamingSocket socket(sockets.client.release(), {peer.octets.begin(), at});
    if (at != peer.octets.end()) {
      send_all(sockets.server.descriptor(), {at, peer.octets.end()});
    }
    ASSERT_TRUE(qp.adopt(socket, client_server())) << cut;
    const auto done = poll_for(client_.cq, 2);
    ASSERT_EQ(done.size(), 2U) << cut;
    EXPECT_EQ(done[1].status, Status::kSuccess);
    EXPECT_EQ(messages.memory, octets("onetwo")) << cut;
  }
}

}  // namespace
}  // namespace iwarp::verbs::test
