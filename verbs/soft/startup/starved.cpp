#include "soft/startup/starved.hpp"

#include <utility>

namespace iwarp::verbs::soft {
namespace {

constinit thread_local Starved* first_starved = nullptr;

}  // namespace

bool Starved::any() { return first_starved != nullptr; }

void Starved::feed_all() {
  unsigned count = 0;  // one that starves again comes behind these
  for (Starved* one = first_starved; one != nullptr; one = one->next_) ++count;
  for (; count != 0 && first_starved != nullptr; --count) {
    Starved* const one = first_starved;
    one->give_up();
    one->try_again();
  }
}

Starved::~Starved() { give_up(); }

void Starved::starve() {
  if (std::exchange(starving_, true)) return;
  Starved** place = &first_starved;
  while (*place != nullptr) place = &(*place)->next_;
  *place = this;
}

void Starved::give_up() {
  if (!std::exchange(starving_, false)) return;
  Starved** place = &first_starved;
  while (*place != nullptr && *place != this) place = &(*place)->next_;
  if (*place == this) *place = std::exchange(next_, nullptr);
}

}  // namespace iwarp::verbs::soft
