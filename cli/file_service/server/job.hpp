#pragma once

#include <optional>

#include "file_service/wire/link.hpp"
#include "file_service/wire/protocol.hpp"

/// The server's side of one request, from its arrival to its answer.
namespace iwarp::cli::file_service {

/// The peer broke the protocol, which ends its connection; what() says how.
class ProtocolViolation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What an answer needs to know about its request.
struct Job {
  std::uint32_t id = 0;
  std::uint16_t receive_slot = 0;
  std::optional<verbs::RemoteBuffer> buffer{};  ///< Of the client.
  bool keeps_stag = false;                      ///< The answer does not invalidate that.
};

/// What the completion of an answer frees.
enum class AnswerTag : std::uint8_t { kPlain, kDataBuffer };

/// Sends the final answer. The receive goes back first: the answer is the client's leave to send
/// another request. `write` is data for the client's buffer.
void answer(Link& link, const Job& job, Reply reply, AnswerTag tag = AnswerTag::kPlain,
            std::optional<verbs::Sge> write = std::nullopt);

/// Answers that the job failed.
void answer_failure(Link& link, const Job& job, Status status, std::string_view text = {});
void answer_failure(Link& link, const Job& job, const std::error_code& error);

}  // namespace iwarp::cli::file_service
