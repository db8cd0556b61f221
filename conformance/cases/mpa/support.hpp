#pragma once

#include "harness/case.hpp"

/// What several groups of the layer `mpa` do.
namespace iwarp::conform {

/// CRC and Marker errors, improper start-up frames (RFC 5044 §8), insufficient IRD and no common
/// RTR (RFC 6581 §8).
inline constexpr Cause kCrcError{kLayerMpa, 0, 2}, kMarkerError{kLayerMpa, 0, 3},
    kImproperFrame{kLayerMpa, 0, 4}, kInsufficientIrd{kLayerMpa, 0, 6},
    kNoMatchingRtr{kLayerMpa, 0, 7};

/// The indications that a new connection is ready for (RFC 6581 §9.2).
enum class Rtr { kSend, kWrite, kRead };
std::string name_of(Rtr kind);
/// Whether flags B, C, D have this one.
bool offers(const EnhancedData& data, Rtr kind);
/// The tester as initiator gives the indication; of a Read it takes the answer.
void send_rtr(Stream& stream, Rtr kind);
/// The tester as responder: the next FPDU is an indication that `reply` allows. A Read is answered.
Rtr expect_rtr(Stream& stream, const EnhancedData& reply);

/// A Request of revision 1, or of 2 without the enhanced data: what every responder knows.
StartupFrame plain_request(const Context& context, std::uint8_t revision = 1);
/// An enhanced Request, not peer-to-peer; skips with revision 1.
StartupFrame enhanced_request(const Context& context, std::uint16_t ird = 16,
                              std::uint16_t ord = 16);
/// The frame keeps to RFC 5044 §7.1.1 and RFC 6581 §6 and §9: flags, revision, enhanced data.
void expect_sound(Context& context, const StartupFrame& frame, bool is_reply);

/// Answers, takes the RTR indication if one is due, and sees that the agent calls the connection
/// established. `details`: what it says then.
Link establish(Context& context, Context::Call call, std::optional<StartupFrame> reply = {},
               Answer* details = nullptr);
/// The same when `reply` has been sent already.
Link establish_answered(Context& context, Context::Call call, const StartupFrame& reply,
                        Answer* details = nullptr);
/// The target does not take what it was sent instead of a start-up frame: it closes, says nothing,
/// and its program learns of no connection.
void expect_no_connection(Context& context, Stream& stream);
/// Has the agent accept the connection if it hears of it within Limits::quiet: what it says of the
/// Request. For Requests that a target may refuse or not.
std::optional<Answer> accept_if_asked(Context& context);
/// Behind a rejection the target sends nothing. It may close the connection (RFC 5044 §7.1.2).
void expect_nothing_more(Stream& stream);
/// The result of `command`, which gives Private Data of this size to the target's program. Skips if
/// the program's interface takes no more than 255 octets, as that of librdmacm.
template <typename Command>
auto with_private_data(std::size_t size, Command command) {
  constexpr std::size_t kAlwaysTaken = 255;
  try {
    return command();
  } catch (const AgentError& error) {
    if (size <= kAlwaysTaken || !error.is("EINVAL")) throw;
    throw Skipped("the target's interface takes no " + std::to_string(size) +
                  " octets of Private Data");
  }
}
/// A call that came to nothing, because the Reply was improper: the connection is closed, perhaps
/// behind a Terminate that says so (RFC 6581 §8), and the program told.
void expect_failed_call(Context& context, Context::Call& call);

/// The next Send of the target, put together of its segments, which follow one another.
Octets expect_message(Stream& stream);
/// Posts a Send of these octets at the agent's end, as soon as the connection is far enough.
void post_send(Context& context, Endpoint& endpoint, OctetView octets, std::uint64_t id);
/// Answers a Read Request with octets of `pattern`, in one segment.
void answer_read(Stream& stream, const Segment& request);

/// Of several Reads that the agent posts, `depth` are under way at once, and another one for each
/// that is answered.
void expect_reads_at_once(Context& context, Link& link, std::size_t depth);

/// Sends so many empty RDMA Reads at once; each is answered, in order.
void expect_empty_reads(Context& context, Stream& stream, std::size_t reads);

/// A connection to a target that has memory to be written to. The tester has sent an FPDU already,
/// so that the target may send from now on.
struct WritableLink {
  Region memory;
  Link link;
};
WritableLink writable_link(Context& context, std::size_t size, LinkOptions options);
WritableLink writable_link(Context& context, std::size_t size);
/// All that was sent before has been placed: a Send behind it was delivered.
void expect_all_placed(Context& context, Link& link);

/// Data go both ways: with an agent a Send each; without one, an empty RDMA Read if the target has
/// room for it.
void expect_traffic(Context& context, Link& link);
/// An FPDU with a wrong CRC is refused if CRCs are in use, and delivered if they are not.
void expect_crc_is(Context& context, Link& link, bool in_use);
/// Another connection works as usual.
void expect_service(Context& context);

}  // namespace iwarp::conform
