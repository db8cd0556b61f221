#include "file_service/server/put_operation.hpp"

#include <future>

#include "file_service/wire/limits.hpp"

namespace iwarp::cli::file_service {

PutOperation::PutOperation(Link& link, BufferBudget& budget, Standing standing, PendingFile file,
                           Target target)
    : link_(link),
      target_(std::move(target)),
      buffers_(link, budget, standing, target_.size),
      file_(std::move(file)),
      hasher_(target_.hash) {}

void PutOperation::take_chunk(const Job& job, std::uint64_t position) {
  const std::uint64_t length = job.buffer->length;
  if (position != announced_ || length > target_.size - position) {
    throw ProtocolViolation("a chunk that does not continue the file");
  }
  announced_ += length;
  if (failed_) return answer_failure(link_, job, *failed_);
  hasher_.wait_for(buffers_.must_be_done());
  const TransferBuffers::Taken chunk = buffers_.take(length);
  reading_.push_back({job, position, chunk.bytes});
  link_.read(chunk.sge(), *job.buffer);
}

void PutOperation::on_read() {
  const Chunk chunk = reading_.front();
  reading_.pop_front();
  hasher_.submit(chunk.bytes);
  if (!failed_) {
    const FileResult<void> written = file_.append(chunk.bytes, chunk.position);
    if (!written) failed_ = written.error();
  }
  buffers_.release();
  if (failed_) return answer_failure(link_, chunk.job, *failed_);
  stored_ += chunk.bytes.size();
  answer(link_, chunk.job, {.length = static_cast<std::uint32_t>(chunk.bytes.size())});
}

bool PutOperation::commit(const Job& job, const RequestView& request) {
  if (failed_) return answer_failure(link_, job, *failed_), false;
  if (stored_ != target_.size || request.hash() != target_.hash) {
    throw ProtocolViolation("a commit of a file that is not whole");
  }
  const std::optional<Digest> digest = hasher_.finish();
  if (digest && *digest != request.digest()) {
    return answer_failure(link_, job, Status::kHashMismatch), false;
  }
  FileResult<void> done = sync();
  if (done) done = file_.publish();
  if (!done) return answer_failure(link_, job, done.error()), false;
  answer(link_, job, {});
  return true;
}

void PutOperation::expect_silence() {
  while (const auto event = link_.wait(std::chrono::milliseconds(0))) {
    if (event->kind != Link::Event::Kind::kSent) {
      throw ProtocolViolation("a request during a commit");
    }
  }
}

FileResult<void> PutOperation::sync() {
  std::future<FileResult<void>> synced =
      std::async(std::launch::async, [this] { return file_.sync(); });
  auto last_sign = std::chrono::steady_clock::now();
  while (synced.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready) {
    expect_silence();
    const auto now = std::chrono::steady_clock::now();
    if (now - last_sign < kSyncSignInterval) continue;
    link_.show_life();
    last_sign = now;
  }
  expect_silence();
  return synced.get();
}

}  // namespace iwarp::cli::file_service
