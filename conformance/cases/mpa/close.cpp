#include <chrono>
#include <thread>

#include "cases/catalogue.hpp"
#include "cases/mpa/support.hpp"

/// How connections end, by either side (RFC 5044 §7.2 and §8, code 1).
namespace iwarp::conform::mpa_close {
namespace {

constexpr std::uint64_t kReceiveId = 1, kSendId = 2;
const std::vector<agent_protocol::Event> kOver{"disconnected", "failed"};

// A connection with a receive that is posted when it ends.
struct OpenLink {
  Region sink;
  Link link;
};

OpenLink open_link(Context& context) {
  const Region sink = context.agent().region(64, "local_write");
  Link link = context.link({.request = context.request(), .prepare = [&](Endpoint& endpoint) {
                              endpoint.receive(kReceiveId, sink, 0, sink.size);
                            }});
  context.expect_event(link.agent_end(), {"established"});
  link.stream.write(0, 0, {});
  return {sink, std::move(link)};
}

void expect_flushed(Context& context, OpenLink& open) {
  context.expect_completion(open.link.agent_end(), kReceiveId, "flushed");
  context.expect_untouched(open.sink);
}

void ends_gracefully(Context& context) {
  OpenLink open = open_link(context);
  open.link.stream.shut_down_sending();
  context.expect_event(open.link.agent_end(), {"disconnected"});
  open.link.stream.expect_end();
  expect_flushed(context, open);
}

void ends_with_a_fin(Context& context) {
  Link link = context.link();
  link.stream.write(0, 0, {});
  link.stream.shut_down_sending();
  context.expect(link.stream.expect_end() == Tcp::Got::kFin, "FIN in answer to FIN", "RST");
}

void ends_before_the_first_fpdu(Context& context) {
  Link link = context.link();
  link.stream.shut_down_sending();
  link.stream.expect_end();
  expect_service(context);
}

// FIN in the midst of an FPDU is no graceful end, and the message is none.
void ends_inside_an_fpdu(Context& context) {
  OpenLink open = open_link(context);
  const Octets fpdu =
      open.link.stream.frame(untagged_segment(kSend, kSendQueue, 1, 0, pattern(40)));
  open.link.stream.send_octets(OctetView(fpdu).first(fpdu.size() / 2));
  open.link.stream.shut_down_sending();
  open.link.stream.expect_end(Stream::Before::kTerminate);
  context.expect_event(open.link.agent_end(), kOver);
  expect_flushed(context, open);
  expect_service(context);
}

void ends_by_a_reset(Context& context) {
  OpenLink open = open_link(context);
  open.link.stream.reset();
  context.expect_event(open.link.agent_end(), kOver);
  expect_service(context);
}

const Cases kEndsOfTheTester{
    {"mpa.close.fin-answered", "FIN at an FPDU boundary is answered by FIN, not by RST",
     Needs::kListener, ends_with_a_fin},
    {"mpa.close.fin-before-fpdu", "FIN in place of the first FPDU ends the connection",
     Needs::kListener, ends_before_the_first_fpdu},
    {"mpa.close.fin", "FIN at an FPDU boundary is reported as the end of the connection",
     Needs::kAgent, ends_gracefully},
    {"mpa.close.fin-in-fpdu", "FIN inside an FPDU ends the connection and delivers nothing",
     Needs::kAgent, ends_inside_an_fpdu},
    {"mpa.close.reset", "RST is reported as the end of the connection", Needs::kAgent,
     ends_by_a_reset},
};

// --- by the target ---

// A peer that does not read for a while is alive all the same: longer than a stack might wait that
// gives a fixed time to the end of a connection.
constexpr std::chrono::seconds kReadingPause{7};

void sends_all_before_its_fin(Context& context, std::size_t size,
                              std::chrono::seconds pause = std::chrono::seconds(0)) {
  Link link = context.link();
  context.expect_event(link.agent_end(), {"established"});
  expect_traffic(context, link);
  const Octets message = pattern(size);
  post_send(context, link.agent_end(), message, kSendId);
  link.agent_end().disconnect();
  std::this_thread::sleep_for(pause);
  context.expect_equal(expect_message(link.stream), message, "the message posted before");
  context.expect(link.stream.expect_end() == Tcp::Got::kFin, "FIN behind the last FPDU", "RST");
  link.stream.shut_down_sending();
  context.expect_completion(link.agent_end(), kSendId);
  context.expect_event(link.agent_end(), {"disconnected"});
}

void initiator_ends_gracefully(Context& context) {
  Link link = establish(context, context.call());
  expect_traffic(context, link);
  link.agent_end().disconnect();
  context.expect(link.stream.expect_end() == Tcp::Got::kFin, "FIN behind the last FPDU", "RST");
  link.stream.shut_down_sending();
  context.expect_event(link.agent_end(), {"disconnected"});
}

void destroyed_queue_pair_ends_it(Context& context) {
  Link link = context.link();
  link.stream.write(0, 0, {});
  link.agent_end().close();
  link.stream.expect_end(Stream::Before::kTerminate);
  expect_service(context);
}

// The tester has nothing more to send; what it has asked for is still on its way. The target may
// send it or end the connection, too, but not within an FPDU.
void half_close_keeps_fpdus_whole(Context& context) {
  constexpr std::size_t kSize = 60000;
  const Region source = context.agent().region(kSize, "local_write,remote_read", 0x5A);
  Link link = context.link();
  link.stream.send_read_request(
      {.size = kSize, .source_stag = source.stag, .source_to = source.address});
  link.stream.shut_down_sending();
  std::size_t got = 0;
  while (const auto segment = link.stream.expect_segment_or_end()) {
    context.expect(segment->opcode() == kReadResponse && segment->to == got,
                   "the next octets of the Response", describe(*segment));
    got += segment->payload.size();
  }
  context.expect(got <= kSize, "as much as was asked for at most", std::to_string(got));
  context.expect_event(link.agent_end(), {"established"});
  context.expect_event(link.agent_end(), {"disconnected"});
}

const Cases kEndsOfTheTarget{
    {"mpa.close.half-closed", "After the peer's FIN the target still sends whole FPDUs, if any",
     Needs::kAgent, half_close_keeps_fpdus_whole},
    {"mpa.close.disconnect", "A disconnect sends what was posted before, then FIN", Needs::kAgent,
     [](Context& context) { sends_all_before_its_fin(context, 100); }},
    {"mpa.close.disconnect-large", "A disconnect sends a large message whole, then FIN",
     Needs::kAgent, [](Context& context) { sends_all_before_its_fin(context, 90000); }},
    {"mpa.close.disconnect-paused", "A disconnect waits for a peer that reads only after 7 s",
     Needs::kAgent,
     [](Context& context) { sends_all_before_its_fin(context, 4'000'000, kReadingPause); }},
    {"mpa.close.initiator-disconnect", "An initiator's disconnect ends with FIN, too",
     Needs::kAgent, initiator_ends_gracefully},
    {"mpa.close.destroyed", "A queue pair that is destroyed ends its connection", Needs::kAgent,
     destroyed_queue_pair_ends_it},
};

}  // namespace

Cases cases() { return joined({kEndsOfTheTester, kEndsOfTheTarget}); }

}  // namespace iwarp::conform::mpa_close
