#include "decode/cursor.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace iwarp::conform {
namespace {

std::vector<std::size_t> consecutive(std::size_t count) {
  std::vector<std::size_t> offsets(count);
  std::iota(offsets.begin(), offsets.end(), std::size_t{0});
  return offsets;
}

// "..1. ...." for the value 1 under the mask 0x20.
std::string bit_picture(std::size_t width, std::uint64_t number, std::uint64_t mask) {
  std::string picture;
  for (std::size_t i = width; i-- > 0;) {
    picture += (mask >> i & 1) == 0 ? '.' : (number >> i & 1) == 0 ? '0' : '1';
    if (i % 4 == 0 && i != 0) picture += ' ';
  }
  return picture;
}

}  // namespace

Cursor::Cursor(Octets octets, std::vector<std::size_t> offsets)
    : octets_(std::move(octets)), offsets_(std::move(offsets)), end_(octets_.size()) {}

Cursor::Cursor(OctetView octets)
    : Cursor(Octets(octets.begin(), octets.end()), consecutive(octets.size())) {}

std::vector<Range> Cursor::ranges(std::size_t size) const {
  std::vector<Range> found;
  for (std::size_t i = at_; i < at_ + size; ++i) {
    if (!found.empty() && found.back().offset + found.back().size == offsets_[i]) {
      ++found.back().size;
    } else {
      found.push_back({offsets_[i], 1});
    }
  }
  return found;
}

Field& Cursor::add(Part part, std::size_t size, std::string_view name) {
  return fields_.emplace_back(
      Field{.part = part, .depth = depth_, .name = std::string(name), .ranges = ranges(size)});
}

std::optional<std::uint64_t> Cursor::read(Part part, std::size_t size, std::string_view name) {
  if (left() == 0) return std::nullopt;
  const std::size_t there = std::min(size, left());
  add(part, there, name);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < there; ++i) value = value << 8 | octets_[at_ + i];
  if (there < size) {
    says("0x" + to_hex(rest()));
    lacks("cut off after " + std::to_string(there) + " of " + count_of(size));
  }
  at_ += there;
  return there == size ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> Cursor::number(Part part, std::size_t size, std::string_view name) {
  const auto value = read(part, size, name);
  if (value) says(std::to_string(*value));
  return value;
}

std::optional<std::uint64_t> Cursor::hex(Part part, std::size_t size, std::string_view name) {
  const auto value = read(part, size, name);
  if (value) says(hex_number(*value, static_cast<int>(2 * size)));
  return value;
}

OctetView Cursor::octets(Part part, std::size_t size, std::string_view name) {
  const std::size_t there = std::min(size, left());
  const OctetView view = rest().first(there);
  if (there == 0) return view;
  add(part, there, name).value = count_of(there);
  if (there < size) lacks("cut off: " + std::to_string(size) + " were announced");
  at_ += there;
  return view;
}

void Cursor::surplus(Part part, std::string_view why) {
  if (left() == 0) return;
  octets(part, left(), "surplus");
  irregular(why);
}

void Cursor::irregular(std::string_view text) {
  const bool was = field().irregular;
  lacks(text);
  field().irregular = was || judging_;
}

void Cursor::lacks(std::string_view text) {
  Field& last = field();
  last.value += (last.value.empty() ? "" : ", ") + std::string(text);
  last.irregular = true;
}

std::uint64_t Cursor::bits(std::size_t width, std::uint64_t number, std::uint64_t mask,
                           std::string_view name) {
  // The number is the last field at the present depth; bits that were added lie deeper.
  const auto parent = std::find_if(fields_.rbegin(), fields_.rend(),
                                   [&](const Field& field) { return field.depth == depth_; });
  const std::uint64_t value = (number & mask) >> std::countr_zero(mask);
  Field field{.part = parent->part,
              .depth = depth_ + 1,
              .name = std::string(name),
              .value = std::to_string(value),
              .bits = bit_picture(width, number, mask),
              .ranges = parent->ranges};
  fields_.push_back(std::move(field));
  return value;
}

void Cursor::begin_group(Part part, std::size_t size, std::string_view name, std::string value) {
  if (left() > 0) {
    add(part, std::min(size, left()), name).value = std::move(value);
    if (left() < size) lacks("cut off after " + std::to_string(left()) + " of " + count_of(size));
  } else if (!fields_.empty()) {
    lacks("but there is no " + std::string(name));
  }
  ++depth_;
}

}  // namespace iwarp::conform
