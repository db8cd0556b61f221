#pragma once

#include <boost/multi_index/composite_key.hpp>
#include <boost/multi_index/hashed_index.hpp>
#include <boost/multi_index/mem_fun.hpp>
#include <boost/multi_index/member.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index_container.hpp>

#include "soft/memory_registry.hpp"

namespace iwarp::verbs::soft {

/// An STag that was set aside, and what it was brought into force for last.
struct Reservation {
  Stag name;                 ///< As it was set aside; the owner of a key may choose another.
  std::uint64_t object = 0;  ///< The window or fast region: a window of type 1 has several STags.
  std::uint64_t order = 0;   ///< Of those of one object the younger has more.
  Reserved kind = Reserved::kFastRegion;
  ddp::ProtectionDomainId pd;
  Stag bound{};              ///< A window: what it was bound under,
  std::uint64_t region = 0;  ///< to which life of a region,
  ddp::StreamId stream{};    ///< and, of type 2, by which stream.

  [[nodiscard]] std::uint32_t index() const { return ddp::index_of(name); }
};

/// All of them, found by what they have to do with: an STag, an object, a region, a stream.
class Reservations {
  struct ByIndex {};
  struct ByObject {};
  struct ByRegion {};
  struct ByStream {};
  using Key = boost::multi_index::composite_key<
      Reservation, boost::multi_index::member<Reservation, std::uint64_t, &Reservation::object>,
      boost::multi_index::member<Reservation, std::uint64_t, &Reservation::order>>;

 public:
  void add(const Reservation& made) { all_.insert(made); }
  /// The one with the index of `stag`, whatever its key; null if there is none.
  [[nodiscard]] const Reservation* find(Stag stag) const {
    const auto found = all_.get<ByIndex>().find(ddp::index_of(stag));
    return found == all_.get<ByIndex>().end() ? nullptr : &*found;
  }
  /// Notes that a window was bound.
  void bind(const Reservation& window, Stag under, std::uint64_t region, ddp::StreamId stream) {
    const auto at = all_.get<ByIndex>().find(window.index());
    all_.get<ByIndex>().modify(at, [&](Reservation& each) {
      each.bound = under;
      each.region = region;
      each.stream = stream;
    });
  }
  void erase(const Reservation& gone) { all_.get<ByIndex>().erase(gone.index()); }
  /// The STags of an object, oldest first.
  [[nodiscard]] auto of_object(std::uint64_t object) const {
    return all_.get<ByObject>().equal_range(object);
  }
  /// The windows that were bound to one life of a region.
  [[nodiscard]] auto of_region(std::uint64_t region) const {
    return all_.get<ByRegion>().equal_range(region);
  }
  /// The windows that were bound by a stream and are open to it alone.
  [[nodiscard]] auto of_stream(ddp::StreamId stream) const {
    return all_.get<ByStream>().equal_range(stream);
  }

 private:
  template <auto kMember, typename Tag, typename Type>
  using Ordered = boost::multi_index::ordered_non_unique<
      boost::multi_index::tag<Tag>, boost::multi_index::member<Reservation, Type, kMember>>;

  boost::multi_index_container<
      Reservation,
      boost::multi_index::indexed_by<
          boost::multi_index::hashed_unique<
              boost::multi_index::tag<ByIndex>,
              boost::multi_index::const_mem_fun<Reservation, std::uint32_t, &Reservation::index>>,
          boost::multi_index::ordered_unique<boost::multi_index::tag<ByObject>, Key>,
          Ordered<&Reservation::region, ByRegion, std::uint64_t>,
          Ordered<&Reservation::stream, ByStream, ddp::StreamId>>>
      all_;
};

}  // namespace iwarp::verbs::soft
