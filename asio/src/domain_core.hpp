#pragma once

#include <optional>

#include "device_core.hpp"
#include "registrations.hpp"

namespace iwarp::asio::detail {

class domain_core {
 public:
  explicit domain_core(std::shared_ptr<device_core> of);

  [[nodiscard]] const std::shared_ptr<device_core>& device() const { return device_; }
  [[nodiscard]] verbs::ProtectionDomain& pd() { return pd_; }
  /// Why `buffer`, which is to permit what is `needed`, cannot be used in this domain now, if it
  /// cannot. Of memory that was registered by verbs the device says so, if it can.
  [[nodiscard]] std::optional<complaint> complain(const const_local_buffer& buffer,
                                                  verbs::Access needed,
                                                  registrations::memo& last) const;
  /// The same of a window's domain and of the region that it is to be bound to; of a region that
  /// was registered by verbs nothing.
  [[nodiscard]] std::optional<complaint> complain(const verbs::BindWr& request,
                                                  const void* window_domain,
                                                  registrations::memo& last) const;

 private:
  std::shared_ptr<device_core> device_;
  verbs::ProtectionDomain pd_;
};

}  // namespace iwarp::asio::detail
