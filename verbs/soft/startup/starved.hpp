#pragma once

namespace iwarp::verbs::soft {

/// What could not go on, as there was no memory even for a wait, and would not be called again: the
/// executor does it, a little later, until it works. Takes no memory. Belongs to the executor's
/// thread.
class Starved {
 public:
  Starved() = default;
  Starved(const Starved&) = delete;
  Starved& operator=(const Starved&) = delete;

  /// Whether there are any, of the calling thread.
  static bool any();
  /// Has each of them try again. They may starve once more.
  static void feed_all();

 protected:
  ~Starved();
  /// Has try_again() called.
  void starve();
  /// It need not be called any more.
  void give_up();
  virtual void try_again() = 0;

 private:
  bool starving_ = false;
  Starved* next_ = nullptr;
};

}  // namespace iwarp::verbs::soft
