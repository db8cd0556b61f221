#include "file_service/server/slots.hpp"

#include "file_service/wire/limits.hpp"

namespace iwarp::cli::file_service {

Slots::Admission Slots::admit(const verbs::Address& peer, Clock::time_point now) {
  const std::scoped_lock lock(mutex_);
  Admission admission;
  if (slots_.size() >= most_) {
    admission.makes_room = spare(peer, now);
    if (!admission.makes_room) return admission;
    remove(*admission.makes_room);
  }
  admission.client = next_++;
  add(*admission.client, peer, now);
  return admission;
}

void Slots::add(Number client, const verbs::Address& peer, Clock::time_point now) {
  try {
    slots_.emplace(client, Slot{peer, now, SlotUse::kNothingAsked});
    all_.add(client, peer);
    with(SlotUse::kNothingAsked).add(client, peer);
  } catch (...) {
    remove(client);
    throw;
  }
}

void Slots::note(Number client, SlotUse use) {
  const std::scoped_lock lock(mutex_);
  const auto at = slots_.find(client);
  if (at == slots_.end() || at->second.use == use) return;
  with(at->second.use).remove(client);
  at->second.use = use;
  with(use).add(client, at->second.peer);
}

void Slots::leave(Number client) {
  const std::scoped_lock lock(mutex_);
  remove(client);
}

std::optional<Slots::Number> Slots::gives_buffers_back(bool of_strangers) {
  const std::scoped_lock lock(mutex_);
  auto chosen = with(SlotUse::kStrangerRests).makes_room();
  if (!chosen && !of_strangers) chosen = with(SlotUse::kTransferRests).makes_room();
  if (chosen) remove(*chosen);
  return chosen;
}

std::optional<Slots::Number> Slots::spare(const verbs::Address& newcomer,
                                          Clock::time_point now) const {
  for (std::size_t use = 0; use < static_cast<std::size_t>(SlotUse::kInUse); ++use) {
    const auto chosen = spare_of(static_cast<SlotUse>(use), newcomer);
    if (!chosen) continue;
    const Slot& slot = slots_.at(*chosen);
    if (slot.use != SlotUse::kNothingAsked || now - slot.since >= kTimeToAsk) return chosen;
  }
  return spare_of(SlotUse::kNothingAsked, newcomer);
}

std::optional<Slots::Number> Slots::spare_of(SlotUse use, const verbs::Address& newcomer) const {
  const verbs::FairShare<Number>& spare = by_use_[static_cast<std::size_t>(use)];
  const auto chosen = spare.makes_room();
  const bool in_turn = !all_.is_large(newcomer) ||
                       (chosen && all_.of_peer(slots_.at(*chosen).peer) >= all_.of_peer(newcomer));
  return chosen && in_turn ? chosen : spare.oldest_of(newcomer);
}

void Slots::remove(Number client) {
  const auto at = slots_.find(client);
  if (at == slots_.end()) return;
  with(at->second.use).remove(client);
  all_.remove(client);
  slots_.erase(at);
}

}  // namespace iwarp::cli::file_service
