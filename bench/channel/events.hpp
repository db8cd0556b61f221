#pragma once

#include <memory>
#include <vector>

#include "iwarp/process/descriptor.hpp"

namespace iwarp::bench::channel {

/// What a descriptor calls when it is readable.
class Readable {
 public:
  Readable() = default;
  Readable(const Readable&) = delete;
  Readable& operator=(const Readable&) = delete;
  virtual ~Readable() = default;
  virtual void on_readable() = 0;
};

/// An event loop of one thread: epoll, level-triggered.
class Events {
 public:
  Events();

  void watch(int descriptor, Readable& readable);
  void forget(int descriptor);
  /// Sleeps until something is readable, and calls its Readable. With `milliseconds` 0 it does
  /// not sleep.
  void turn(int milliseconds = -1);
  /// Keeps it until the turn is over: it may be among those that are still to be called.
  void bury(std::unique_ptr<Readable> gone) { graves_.push_back(std::move(gone)); }

 private:
  [[nodiscard]] bool is_buried(const Readable* readable) const;

  process::Descriptor epoll_;
  std::vector<std::unique_ptr<Readable>> graves_;
};

}  // namespace iwarp::bench::channel
