#pragma once

#include <pthread.h>

namespace iwarp::process {

/// While it lives the thread is not cancelled (pthread_cancel(3)): what it does is done whole,
/// although system calls in it are cancellation points.
class NoCancel {
 public:
  NoCancel() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  NoCancel(const NoCancel&) = delete;
  NoCancel& operator=(const NoCancel&) = delete;
  ~NoCancel() { pthread_setcancelstate(before_, nullptr); }

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace iwarp::process
