#pragma once

#include <infiniband/verbs.h>

#include <memory>

#include "core/async.hpp"
#include "core/device.hpp"
#include "core/uses.hpp"
#include "iwarp/verbs/provider.hpp"

namespace iwarp::compat {

/// A device that was opened: what the program holds, and what lies behind it. `extended` leads,
/// since the header's inline functions find it from the ibv_context in it.
struct Context {
  verbs_context extended{};
  std::shared_ptr<verbs::provider::Provider> provider;
  AsyncQueue async;

  Context(Device& device, std::shared_ptr<verbs::provider::Provider> with);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] ibv_context* shown() { return &extended.context; }
  [[nodiscard]] Device& device() const { return device_of(extended.context.device); }
};

Context& context_of(ibv_context* shown);

/// The functions that the header's inline ones call through the context.
void fill_operations(verbs_context& verbs);

}  // namespace iwarp::compat
