#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <memory>
#include <utility>

#include "core/device.hpp"
#include "core/uses.hpp"
#include "events/async.hpp"
#include "iwarp/process/forks.hpp"
#include "iwarp/verbs/provider.hpp"

namespace iwarp::compat {

/// A device that was opened: what the program holds, and what lies behind it. `extended` leads,
/// since the header's inline functions find it from the ibv_context in it.
struct Context {
  verbs_context extended{};
  std::shared_ptr<verbs::provider::Provider> provider;
  AsyncQueue async;
  process::Origin origin;

  Context(Device& device, std::shared_ptr<verbs::provider::Provider> with);
  void hold() { ++owners_; }
  void let_go() {
    if (--owners_ == 0) delete this;
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] ibv_context* shown() { return &extended.context; }
  [[nodiscard]] Device& device() const { return device_of(extended.context.device); }

 private:
  ~Context();
  std::atomic<unsigned> owners_{1};  // the program, and what was made of it
};

Context& context_of(ibv_context* shown);

/// Whether what was made of this context belongs to the process that this one was forked from. Its
/// calls fail with ENODEV, and nothing is given back: that is its owner's to do.
inline bool inherited(ibv_context* shown) { return context_of(shown).origin.inherited(); }
/// The same, for a call that fails because of it: at the first in a process the log says why.
inline bool refused(ibv_context* shown) { return context_of(shown).origin.refuses(); }

/// Keeps a context from going while something that was made of it is there, whatever
/// ibv_close_device() says.
class ContextUse {
 public:
  ContextUse() = default;
  explicit ContextUse(ibv_context* shown);
  ContextUse(ContextUse&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
  ContextUse& operator=(ContextUse&& other) noexcept {
    std::swap(context_, other.context_);
    return *this;
  }
  ~ContextUse();

 private:
  Context* context_ = nullptr;
};

/// The functions that the header's inline ones call through the context.
void fill_operations(verbs_context& verbs);

}  // namespace iwarp::compat
