#pragma once

#include <optional>
#include <string_view>

#include "decode/field.hpp"
#include "wire/octets.hpp"

namespace iwarp::conform {

/// Walks over octets and turns them into fields. What asks for more octets than there are gets what
/// is left, marked as cut off, and then nothing: a caller that decodes a header need not count.
class Cursor {
 public:
  /// `offsets`: where each of `octets` stands on the wire, as Markers have been taken out.
  Cursor(Octets octets, std::vector<std::size_t> offsets);
  /// Octets that stand on the wire as they are.
  explicit Cursor(OctetView octets);

  std::size_t left() const { return end_ - at_; }
  OctetView rest() const { return OctetView(octets_).subspan(at_, left()); }

  /// From here on nothing is seen behind the next `size` octets, until `lift_limit`.
  void limit(std::size_t size) { end_ = at_ + std::min(size, left()); }
  void lift_limit() { end_ = octets_.size(); }

  /// A number, most significant octet first; none if its octets are cut off. `number` writes it in
  /// decimal, `hex` in hexadecimal.
  std::optional<std::uint64_t> number(Part part, std::size_t size, std::string_view name);
  std::optional<std::uint64_t> hex(Part part, std::size_t size, std::string_view name);
  /// `size` octets of no further structure; nothing if `size` is 0. Returns what it has.
  OctetView octets(Part part, std::size_t size, std::string_view name);
  /// All that is left, as something that should not be there.
  void surplus(Part part, std::string_view why);

  /// The field that was added last, to say more about it. Only after one was added.
  Field& field() { return fields_.back(); }
  void says(std::string value) { field().value = std::move(value); }
  /// Adds ", TEXT" to the value of the last field, and marks it unless judging is off.
  void irregular(std::string_view text);
  /// The same, of octets that are missing: marks it in any case.
  void lacks(std::string_view text);

  /// The bits of `mask` in the last number, which has `width` bits, as a field below it. Returns
  /// them, moved to the right.
  std::uint64_t bits(std::size_t width, std::uint64_t number, std::uint64_t mask,
                     std::string_view name);

  /// The next `size` octets, or as many as there are, are one field, and what follows are its
  /// parts, until `end_group`. If there are none the field before says so.
  void begin_group(Part part, std::size_t size, std::string_view name, std::string value);
  void end_group() { --depth_; }

  /// Whether `irregular` marks what it speaks of. What is wrong with headers that a Terminate sends
  /// back is not its sender's fault.
  void judge(bool judging) { judging_ = judging; }

  std::vector<Field> take_fields() { return std::move(fields_); }

 private:
  Field& add(Part part, std::size_t size, std::string_view name);
  std::vector<Range> ranges(std::size_t size) const;
  std::optional<std::uint64_t> read(Part part, std::size_t size, std::string_view name);

  Octets octets_;
  std::vector<std::size_t> offsets_;
  std::size_t at_ = 0, end_ = 0;
  int depth_ = 0;
  bool judging_ = true;
  std::vector<Field> fields_;
};

}  // namespace iwarp::conform
