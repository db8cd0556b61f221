#pragma once

#include "device_core.hpp"
#include "registrations.hpp"

namespace iwarp::asio::detail {

class domain_core {
 public:
  explicit domain_core(std::shared_ptr<device_core> of);

  [[nodiscard]] const std::shared_ptr<device_core>& device() const { return device_; }
  [[nodiscard]] verbs::ProtectionDomain& pd() { return pd_; }
  /// As registrations::complaint() for this domain.
  [[nodiscard]] std::string complaint(const local_buffer& buffer, bool written) const {
    return device_->known().complaint(buffer, this, written);
  }

 private:
  std::shared_ptr<device_core> device_;
  verbs::ProtectionDomain pd_;
};

}  // namespace iwarp::asio::detail
