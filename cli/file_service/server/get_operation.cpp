#include "file_service/server/get_operation.hpp"

namespace iwarp::cli::file_service {

GetOperation::GetOperation(Link& link, BufferBudget& budget, Standing standing,
                           Store::ReadableFile file, std::string name, HashKind hash)
    : link_(link),
      file_(std::move(file)),
      name_(std::move(name)),
      buffers_(link, budget, standing, file_.facts.size),
      hasher_(hash) {}

void GetOperation::take_chunk(const Job& job, std::uint64_t position) {
  // What the client asked for before it heard of the failure.
  if (failed_) return answer_failure(link_, job, Status::kChanged);
  const std::uint64_t length = job.buffer->length;
  if (position != sent_ || length > size() - position) {
    throw ProtocolViolation("a request for octets that do not continue the file");
  }
  hasher_.wait_for(buffers_.must_be_done());
  const TransferBuffers::Taken chunk = buffers_.take(length);
  const FileResult<std::size_t> got = read_at(file_.file, chunk.bytes, position);
  failed_ = !got || *got < length;
  if (!got) return answer_failure(link_, job, got.error());
  if (failed_) return answer_failure(link_, job, Status::kChanged);  // it has become shorter
  hasher_.submit(chunk.bytes);
  sent_ += length;
  answer(link_, job, {.length = static_cast<std::uint32_t>(length)}, AnswerTag::kDataBuffer,
         chunk.sge());
}

bool GetOperation::finish(const Job& job) {
  if (sent_ != size()) throw ProtocolViolation("the end of a get that is not whole");
  const FileResult<FileFacts> now = regular_file_facts(file_.file);
  if (!now) return answer_failure(link_, job, now.error()), false;
  if (*now != file_.facts) return answer_failure(link_, job, Status::kChanged), false;
  const std::optional<Digest> digest = hasher_.finish();
  answer(link_, job, {.payload = digest ? ConstBytes(*digest) : ConstBytes()});
  return true;
}

}  // namespace iwarp::cli::file_service
