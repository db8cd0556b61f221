#include "file_service/client/chunk_window.hpp"
#include "file_service/client/transfer.hpp"

namespace iwarp::cli::file_service {
namespace {

/// One put under way.
class Upload {
 public:
  Upload(Client& client, const Fd& file, const Subject& subject, std::uint64_t size, HashKind hash)
      : client_(client),
        file_(file),
        subject_(subject),
        size_(size),
        window_(client, size),
        hasher_(hash) {}

  void open() {
    client_.ask({.operation = Operation::kOpenPut,
                 .hash = hasher_.kind(),
                 .position = size_,
                 .payload = std::as_bytes(std::span(subject_.name))},
                subject_.url);
  }

  void move(const ProgressSink& progress) {
    while (offered_ < size_ || !window_.empty()) {
      while (offered_ < size_ && window_.has_room()) offer_next();
      done_ += window_.wait_oldest(subject_.url).bytes.size();
      window_.release();
      progress(done_, size_);
    }
  }

  TransferResult commit() {
    const std::optional<Digest> digest = hasher_.finish();
    client_.ask({.operation = Operation::kCommit,
                 .hash = hasher_.kind(),
                 .payload = digest ? ConstBytes(*digest) : ConstBytes()},
                subject_.url);
    return {size_, digest};
  }

 private:
  void offer_next() {
    const MutableBytes bytes = window_.take(hasher_, size_ - offered_);
    const FileResult<std::size_t> got = read_at(file_, bytes, offered_);
    if (!got) throw CommandError(fmt::format("{}: {}", subject_.local, got.error().message()));
    if (*got < bytes.size()) {
      throw CommandError(subject_.local + ": the file became shorter while it was sent");
    }
    hasher_.submit(bytes);
    window_.offer(bytes, offered_, Operation::kPutChunk, verbs::Access::kRemoteRead);
    offered_ += bytes.size();
  }

  Client& client_;
  const Fd& file_;
  const Subject& subject_;
  std::uint64_t size_;
  std::uint64_t offered_ = 0;
  std::uint64_t done_ = 0;
  ChunkWindow window_;
  StreamHasher hasher_;
};

}  // namespace

TransferResult upload(Client& client, const Fd& file, const Subject& subject, HashKind hash,
                      const ProgressSink& progress) {
  const FileResult<FileFacts> facts = settled_file_facts(file);
  if (!facts) throw CommandError(subject.local + ": " + facts.error().message());
  Upload upload(client, file, subject, facts->size, hash);
  upload.open();
  upload.move(progress);
  const FileResult<FileFacts> now = regular_file_facts(file);
  if (!now) throw CommandError(subject.local + ": " + now.error().message());
  if (*now != *facts) {
    throw CommandError(subject.local + ": the file changed while it was sent");
  }
  return upload.commit();
}

}  // namespace iwarp::cli::file_service
