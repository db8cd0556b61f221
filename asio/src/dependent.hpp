#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "iwarp/asio/detail/operation.hpp"

namespace iwarp::asio::detail {

/// The threads that are submitting what has ended. Outlives its dependent, which a handler may own.
class submissions {
 public:
  /// One of them, while this lives.
  class mark {
   public:
    explicit mark(std::shared_ptr<submissions> of) : of_(std::move(of)) {
      of_->count_.fetch_add(1);
      ++of_this_thread;
    }
    mark(const mark&) = delete;
    mark& operator=(const mark&) = delete;
    ~mark() {
      --of_this_thread;
      if (of_->count_.fetch_sub(1) == 1) of_->count_.notify_all();
    }

   private:
    std::shared_ptr<submissions> of_;
  };

  /// Whether there is none but that of the caller, which cannot wait for itself.
  [[nodiscard]] bool quiet() const { return of_this_thread != 0 || count_.load() == 0; }
  /// Until it is quiet.
  void wait() const {
    if (of_this_thread != 0) return;
    for (int count = count_.load(); count != 0; count = count_.load()) count_.wait(count);
  }

 private:
  inline static thread_local int of_this_thread = 0;
  std::atomic<int> count_{0};
};

/// What holds operations, and so has to let them go when the execution context ends.
class dependent : public canceller {
 public:
  /// Destroys the operations; none will complete any more. Called once, by the context's end.
  virtual void shut_down() = 0;
  /// Behind shut_down(): until no thread submits what had ended before.
  void await_submissions() const { submissions_->wait(); }

  // Around a fork. Other threads stay outside between hold() and let_go().
  void hold() { mutex_.lock(); }
  void let_go() { mutex_.unlock(); }
  [[nodiscard]] bool is_submitting() const { return !submissions_->quiet(); }
  /// Held, in the child: all operations go to `to`, as nothing else will end them there.
  virtual void give_up(operation_list& to) = 0;

 protected:
  /// The lock of a dependent. Operations that end under it are submitted when it has been released,
  /// in their order: a handler may be destroyed by that, and with it what it owns. An executor that
  /// throws instead of taking a handler ends the program: nothing is left that could be told.
  class session {
   public:
    explicit session(const dependent& of) : of_(const_cast<dependent&>(of)), lock_(of_.mutex_) {}
    session(const session&) = delete;
    session& operator=(const session&) = delete;
    ~session() {
      if (of_.ended_.empty()) return;
      operation_list ended;
      std::swap(ended, of_.ended_);
      const submissions::mark mark(of_.submissions_);
      lock_.unlock();
      while (operation_base* one = ended.pop_front()) one->submit();
    }

   private:
    dependent& of_;
    std::unique_lock<std::mutex> lock_;
  };

  /// In a session: the operation, which is on no list, has ended.
  void complete(operation_base& operation, error_code error) {
    operation.settle(error);
    ended_.push_back(operation);
  }

 private:
  std::mutex mutex_;
  operation_list ended_;
  const std::shared_ptr<submissions> submissions_ = std::make_shared<submissions>();
};

}  // namespace iwarp::asio::detail
