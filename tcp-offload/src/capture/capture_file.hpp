#pragma once

#include <cstdint>
#include <string>
#include <system_error>

#include "iwarp/base/bytes.hpp"
#include "iwarp/process/descriptor.hpp"
#include "iwarp/tcp_offload/stream.hpp"

namespace iwarp::tcp_offload::capture {

/// The file of one capture, made when it is first written. For one thread at a time.
class CaptureFile {
 public:
  CaptureFile(const std::string& directory, const Endpoint& local, const Endpoint& remote);

  /// Appends whole blocks. After an error the file ends with the last whole call.
  std::error_code append(ConstBytes blocks);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  process::Descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace iwarp::tcp_offload::capture
