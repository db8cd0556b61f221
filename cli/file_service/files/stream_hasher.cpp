#include "file_service/files/stream_hasher.hpp"

#include <openssl/evp.h>

#include <boost/algorithm/hex.hpp>
#include <iterator>
#include <stdexcept>

namespace iwarp::cli::file_service {

struct StreamHasher::Context {
  struct Deleter {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Deleter> evp{EVP_MD_CTX_new()};
};

StreamHasher::StreamHasher(HashKind kind) : kind_(kind) {
  if (kind_ == HashKind::kNone) return;
  context_ = std::make_unique<Context>();
  if (!context_->evp || EVP_DigestInit_ex(context_->evp.get(), EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL offers no SHA-256");
  }
  worker_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

StreamHasher::~StreamHasher() = default;

void StreamHasher::submit(ConstBytes bytes) {
  if (kind_ == HashKind::kNone) return;
  {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(bytes);
    ++submitted_;
  }
  changed_.notify_all();
}

void StreamHasher::wait_for(std::uint64_t submissions) {
  if (kind_ == HashKind::kNone) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return hashed_ >= submissions; });
}

std::optional<Digest> StreamHasher::finish() {
  if (kind_ == HashKind::kNone) return std::nullopt;
  wait_for(submitted_);
  Digest digest{};
  unsigned int length = 0;
  EVP_DigestFinal_ex(context_->evp.get(), reinterpret_cast<unsigned char*>(digest.data()), &length);
  return digest;
}

void StreamHasher::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !waiting_.empty(); })) {
    if (stop.stop_requested()) return;
    const ConstBytes bytes = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    EVP_DigestUpdate(context_->evp.get(), bytes.data(), bytes.size());
    lock.lock();
    ++hashed_;
    changed_.notify_all();
  }
}

std::string to_hex(const Digest& digest) {
  const auto* const octets = reinterpret_cast<const unsigned char*>(digest.data());
  std::string text;
  boost::algorithm::hex_lower(octets, octets + digest.size(), std::back_inserter(text));
  return text;
}

}  // namespace iwarp::cli::file_service
