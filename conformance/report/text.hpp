#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/transcript.hpp"

/// Texts for reports. What targets and agents say is not trusted: it may hold anything.
namespace iwarp::conform {

/// `text` as UTF-8 without anything that acts on a terminal or on the direction of writing: control
/// characters come out as \x1b or \u202e, what is no UTF-8 as \xff.
std::string clean(std::string_view text);

/// Cleaned text with at most about `size` octets: the middle of a longer one is left out, and it
/// says so.
std::string abridged(const std::string& cleaned, std::size_t size);

/// `text`, cleaned, between the tags of XML or in an attribute between double quotes.
std::string xml_escaped(std::string_view text);

/// "2026-02-03T04:05:06.789Z"
std::string iso_time(std::chrono::system_clock::time_point time);
/// "1.234", in seconds.
std::string seconds(Clock::duration duration);
std::int64_t microseconds(Clock::duration duration);

/// "192.0.2.1:1024", "[2001:db8::1]:1024"; "?" for an address that is not known.
std::string end_text(const std::string& address, std::uint16_t port);

}  // namespace iwarp::conform
