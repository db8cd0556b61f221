#pragma once

#include <boost/multi_index/member.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index/sequenced_index.hpp>
#include <boost/multi_index/tag.hpp>
#include <boost/multi_index_container.hpp>
#include <chrono>
#include <cstddef>
#include <iwarp/verbs/endpoint.hpp>
#include <memory_resource>
#include <mutex>

namespace iwarp::cli::file_service {

/// The networks (verbs::counted_network) whose latest client has gone without having got anything.
/// That is nothing unusual, unless there are very many of them: then the server is under attack,
/// and each such network waits for a while before it gets another connection, with its thread and
/// memory; twice as long after each further end of that kind. Not so a network of which a client
/// was served lately, as several share its address. The caller says when. Thread-safe.
class BadEnds {
 public:
  using Clock = std::chrono::steady_clock;

  /// A client has gone that got nothing.
  void note_bad(const verbs::Address& peer, Clock::time_point now);
  /// One that got something.
  void note_good(const verbs::Address& peer, Clock::time_point now);
  /// Whether a client of the network was served lately.
  bool knows(const verbs::Address& peer, Clock::time_point now);
  /// Whether a newcomer has to wait, which it is told now. It counts as one more bad end: the
  /// attack goes on.
  bool holds_back(const verbs::Address& peer, Clock::time_point now);
  /// Whether one has to wait whose network has been told already.
  bool shuts_out(const verbs::Address& peer, Clock::time_point now);

 private:
  struct Network {
    verbs::Address network;
    Clock::time_point held_until{}, trusted_until{};
    Clock::duration wait{};  ///< The latest one.
    bool attacks = false;    ///< Its latest end was one of an attack.
    bool told = false;       ///< Of this wait.
  };
  struct ByAge {};
  struct ByNetwork {};
  using Networks = boost::multi_index_container<
      Network,
      boost::multi_index::indexed_by<
          boost::multi_index::sequenced<boost::multi_index::tag<ByAge>>,
          boost::multi_index::ordered_unique<
              boost::multi_index::tag<ByNetwork>,
              boost::multi_index::member<Network, verbs::Address, &Network::network>>>,
      std::pmr::polymorphic_allocator<Network>>;

  /// Changes what is known of the peer's network. The one noted longest ago is forgotten if there
  /// are too many.
  template <typename Change>
  void note(const verbs::Address& peer, const Change& change);
  /// The peer's network, if it has to wait.
  [[nodiscard]] Networks::index<ByNetwork>::type::iterator held(const verbs::Address& peer,
                                                                Clock::time_point now);
  [[nodiscard]] bool under_attack() const;
  void raise_alarm(Clock::time_point now);
  void calm_down(Clock::time_point now);

  std::mutex mutex_;
  double alarm_ = 0;  ///< Bad ends, of which so many a second are forgotten.
  Clock::time_point alarm_at_;
  /// What is known outlives the clients: between their memory it would keep the pages of theirs.
  std::pmr::unsynchronized_pool_resource memory_;
  Networks networks_{&memory_};  ///< The one that was noted longest ago first.
};

}  // namespace iwarp::cli::file_service
