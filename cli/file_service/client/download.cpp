#include "file_service/client/chunk_window.hpp"
#include "file_service/client/transfer.hpp"

namespace iwarp::cli::file_service {
namespace {

/// One get under way.
class Download {
 public:
  Download(Client& client, PendingFile& file, const Subject& subject, std::uint64_t size,
           HashKind hash)
      : client_(client),
        file_(file),
        subject_(subject),
        size_(size),
        window_(client, size),
        hasher_(hash) {}

  void move(const ProgressSink& progress) {
    while (asked_ < size_ || !window_.empty()) {
      while (asked_ < size_ && window_.has_room()) ask_next();
      store_oldest();
      progress(stored_, size_);
    }
  }

  TransferResult finish() {
    const Answer answer = client_.ask({.operation = Operation::kFinish}, subject_.url);
    const std::optional<Digest> digest = hasher_.finish();
    if (digest &&
        !std::equal(answer.payload.begin(), answer.payload.end(), digest->begin(), digest->end())) {
      throw CommandError(subject_.url + ": other bytes arrived than the server sent");
    }
    return {size_, digest};
  }

 private:
  void ask_next() {
    const MutableBytes bytes = window_.take(hasher_, size_ - asked_);
    window_.offer(bytes, asked_, Operation::kGetChunk,
                  verbs::Access::kLocalWrite | verbs::Access::kRemoteWrite);
    asked_ += bytes.size();
  }

  void store_oldest() {
    const ChunkWindow::Done chunk = window_.wait_oldest(subject_.url);
    hasher_.submit(chunk.bytes);
    const FileResult<void> stored = file_.append(chunk.bytes, chunk.position);
    if (!stored) {
      throw CommandError(fmt::format("{}: {}", subject_.local, stored.error().message()));
    }
    stored_ += chunk.bytes.size();
    window_.release();
  }

  Client& client_;
  PendingFile& file_;
  const Subject& subject_;
  std::uint64_t size_;
  std::uint64_t asked_ = 0;
  std::uint64_t stored_ = 0;
  ChunkWindow window_;
  StreamHasher hasher_;
};

}  // namespace

TransferResult download(Client& client, PendingFile& file, const Subject& subject, HashKind hash,
                        const ProgressSink& progress) {
  const Answer opened = client.ask({.operation = Operation::kOpenGet,
                                    .hash = hash,
                                    .payload = std::as_bytes(std::span(subject.name))},
                                   subject.url);
  Download download(client, file, subject, opened.position, hash);
  download.move(progress);
  return download.finish();
}

}  // namespace iwarp::cli::file_service
