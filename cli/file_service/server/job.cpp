#include "file_service/server/job.hpp"

#include "file_service/server/store.hpp"

namespace iwarp::cli::file_service {

void answer(Link& link, const Job& job, Reply reply, AnswerTag tag,
            std::optional<verbs::Sge> write) {
  reply.id = job.id;
  const std::size_t length = reply.encode(link.outgoing());
  Link::SendExtras extras{.tag = static_cast<std::uint8_t>(tag)};
  if (job.buffer && !job.keeps_stag) extras.invalidate = job.buffer->stag;
  if (job.buffer && write) extras.write = Link::Write{*write, *job.buffer};
  link.recycle(job.receive_slot);
  link.send(length, extras);
}

void answer_failure(Link& link, const Job& job, Status status, std::string_view text) {
  answer(link, job, {.status = status, .payload = std::as_bytes(std::span(text))});
}

void answer_failure(Link& link, const Job& job, const std::error_code& error) {
  const Status status = status_of(error);
  // The other statuses say all there is to say.
  const std::string text = status == Status::kInputOutput ? error.message() : std::string();
  answer_failure(link, job, status, text);
}

}  // namespace iwarp::cli::file_service
