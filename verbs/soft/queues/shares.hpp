#pragma once

#include <cstdint>
#include <vector>

#include "soft/queues/linked_list.hpp"

namespace iwarp::verbs::soft {

/// Which queue pair has taken which receives of a shared receive queue, so that none has more than
/// its share (RFC 5042 §6.4.3.1). A receive counts for its taker from when it is taken until the
/// program posts it anew. All work is done in a time that does not depend on how many there are,
/// but for forget(), and without allocating. Not thread-safe.
///
/// The program can post a receive anew once its place has been given back: it has polled the
/// completion, or gets none. A post is taken for the one among those that has its wr_id; of several
/// for the one that came first. Where none has, the program may count its wr_ids up: then the post
/// is taken for the one that came first of all.
///
/// What a queue pair had taken that is gone counts for none, but is remembered by its wr_id: posted
/// anew it must not be taken for a receive of another queue pair. As the program may never post it
/// anew, it comes behind those that count wherever wr_ids do not decide.
class Shares {
  struct ByTaker;
  struct ByAge;
  struct ByWrId;
  struct Taken;

 public:
  /// What a queue pair has taken.
  class Taker {
    friend class Shares;
    std::uint32_t count_ = 0;
    LinkedList<Taken, ByTaker> unpolled_, polled_;  // each in the order of taking
  };

  /// For a queue that has at most `most` places. A taken receive remains known when its place is
  /// given back, but the next post replaces it or another one: there are never more than `most`.
  Shares(std::uint32_t share, std::uint32_t most);

  /// The queue pair takes a receive. False, and nothing happens, if it has its share.
  [[nodiscard]] bool take(Taker& taker, std::uint64_t wr_id);
  /// The places of so many of the receives that it took are about to be given back: those that it
  /// took first, as they complete in that order.
  void release(Taker& taker, std::uint32_t count);
  /// A receive with that wr_id has been posted.
  void replace(std::uint64_t wr_id);
  /// The queue pair is gone, with what it has not released.
  void forget(Taker& taker);

 private:
  struct Taken : ListLink<ByTaker>, ListLink<ByAge>, ListLink<ByWrId> {
    std::uint64_t wr_id = 0;
    Taker* taker = nullptr;  // none if it is gone
  };

  /// Receives that the program can post anew, each in the order of release.
  class Returnable {
   public:
    explicit Returnable(std::uint32_t most);
    void add(Taken& taken);
    static void remove(Taken& taken);
    [[nodiscard]] Taken* first() { return all_.front(); }
    [[nodiscard]] Taken* first(std::uint64_t wr_id);

   private:
    using Bucket = LinkedList<Taken, ByWrId>;
    [[nodiscard]] Bucket& bucket_of(std::uint64_t wr_id);

    std::vector<Bucket> buckets_;
    const int shift_;
    LinkedList<Taken, ByAge> all_;
  };

  [[nodiscard]] Taken* replaced_by(std::uint64_t wr_id);

  const std::uint32_t share_;
  std::vector<Taken> taken_;
  LinkedList<Taken, ByTaker> unused_;
  Returnable counting_, orphaned_;
};

}  // namespace iwarp::verbs::soft
