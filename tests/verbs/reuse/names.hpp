#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "soft/memory_registry.hpp"
#include "support/random.hpp"

/// Regions, windows, fast regions and streams made and ended at random while a peer keeps each name
/// that it has ever known. A model says what each name opens; the registry has to agree.
namespace iwarp::verbs::reuse {

/// What a name is expected to open.
struct Opening {
  std::byte* memory = nullptr;
  std::uint64_t life = 0;  ///< Of the region behind it.
  ddp::StreamId stream = ddp::kAnyStream;
};

/// A region, or a fast region.
struct Memory {
  Stag stag;
  std::uint64_t life = 0;  ///< 0: a fast region that is not in force.
  std::byte* memory = nullptr;
};

/// A window of either type; bound if it has a life.
struct Window {
  Stag stag;  ///< What it was made with, or has got last.
  WindowType type = WindowType::k1;
  Stag bound{};
  std::uint64_t life = 0;
  ddp::StreamId stream = ddp::kAnyStream;
};

/// One registry, its model, and the peer's notes.
class Names {
 public:
  explicit Names(std::uint64_t seed);

  /// Does something at random; then the peer tries some of its names.
  void step();
  /// What has gone wrong; empty if nothing has.
  [[nodiscard]] const std::string& complaint() const { return complaint_; }
  [[nodiscard]] std::size_t known() const { return notes_.size(); }

 private:
  static constexpr std::size_t kAreas = 4096;  // of one octet: lives that follow each other differ
  static constexpr ddp::ProtectionDomainId kPd{1};

  void act();
  void make_region();
  void end_region();
  void replace_region();
  void make_fast_region();
  void end_fast_region();
  void register_fast();
  void invalidate_fast();
  void make_window();
  void end_window();
  void bind();
  void unbind();
  void new_stream();

  void look(Stag stag);
  void expect(bool holds, const char* what);
  void ends(std::uint64_t life);
  void opens(Stag stag, const Opening& opening);
  void closes(Window& window);
  [[nodiscard]] std::uint64_t next_life() { return ++lives_; }
  [[nodiscard]] std::byte* next_area() { return &areas_[++area_ % kAreas]; }
  [[nodiscard]] bool is_bound(std::uint64_t life) const;
  template <typename T>
  T* any(std::vector<T>& from) {
    return from.empty() ? nullptr : &from[random_.below(static_cast<std::uint32_t>(from.size()))];
  }
  template <typename T>
  void drop(std::vector<T>& from, T* gone) {
    *gone = from.back();
    from.pop_back();
  }
  ddp::Accessor by(ddp::StreamId stream) const { return {kPd, stream}; }

  iwarp::test::Random random_;
  soft::MemoryRegistry registry_;
  std::vector<std::byte> areas_ = std::vector<std::byte>(kAreas);
  std::size_t area_ = 0;
  std::uint64_t lives_ = 0;
  std::vector<Memory> regions_, fast_;
  std::vector<Window> windows_;
  std::vector<ddp::StreamId> streams_;
  std::unordered_map<Stag, Opening> open_;
  std::unordered_set<Stag> handed_out_;  // by the table, as a whole
  std::vector<Stag> notes_;
  std::string complaint_;
};

}  // namespace iwarp::verbs::reuse
