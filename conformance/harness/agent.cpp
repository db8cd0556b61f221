#include "harness/agent.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <thread>

namespace iwarp::conform {
namespace {

constexpr std::size_t kLongestLine = 200000;
constexpr milliseconds kRetry{2};
constexpr std::size_t kPiece = 65536;  // of memory in one command or answer
// A request for a queue pair that is not connected yet waits for that.
constexpr milliseconds kPostPatience{5000};
constexpr std::size_t kShown = 200;  // of a line that cannot be believed

std::string shown(std::string_view line) {
  std::string text;
  for (const char c : line.substr(0, kShown)) text += c >= ' ' && c <= '~' ? c : '.';
  return '"' + text + (line.size() > kShown ? "…\"" : "\"");
}

// A line for the transcript; what octets it moves stands in the tester's checks.
std::string noted(const std::string& line) {
  constexpr std::size_t kLongest = 1000;
  if (line.size() <= kLongest) return line;
  return line.substr(0, kLongest) + "… and " + std::to_string(line.size() - kLongest) +
         " characters";
}

std::string pair(std::string_view name, std::uint64_t value) {
  return ' ' + std::string(name) + '=' + std::to_string(value);
}
std::string hex_pair(std::string_view name, std::uint64_t value, int digits) {
  return ' ' + std::string(name) + '=' + hex_number(value, digits);
}
std::string part_of(const Region& region, std::size_t offset, std::size_t length) {
  return pair("region", region.id) + pair("offset", offset) + pair("length", length);
}
std::string remote(std::uint32_t stag, std::uint64_t address) {
  return hex_pair("stag", stag, 8) + hex_pair("address", address, 16);
}
std::string in_front(const std::string& rest) { return rest.empty() ? rest : ' ' + rest; }

Answer parse_answer(const std::string& command, const std::string& line) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word == "error") {
    std::string code, text;
    words >> code;
    std::getline(words >> std::ws, text);
    throw AgentError(command.substr(0, command.find(' ')), code, text);
  }
  if (word != "ok") throw Unreachable("what answers is no agent: " + shown(line));
  Answer answer;
  while (words >> word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos)
      throw Unreachable("the agent's answer is malformed: " + shown(line));
    answer.set(word.substr(0, equals), word.substr(equals + 1));
  }
  return answer;
}

}  // namespace

std::string octet_text(OctetView octets) { return octets.empty() ? "-" : to_hex(octets); }

const std::string& Answer::text(const std::string& name) const {
  const auto found = pairs_.find(name);
  if (found == pairs_.end()) throw Unreachable("the agent's answer lacks " + name);
  return found->second;
}

std::uint64_t Answer::number(const std::string& name) const {
  std::string_view digits = text(name);
  const bool hex = digits.starts_with("0x");
  if (hex) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    throw Unreachable("the agent's " + name + " is no number: " + shown(text(name)));
  }
  return value;
}

Octets Answer::octets(const std::string& name) const {
  Octets octets;
  const std::string& digits = text(name);
  if (digits != "-" && !from_hex(digits, octets)) {
    throw Unreachable("the agent's " + name + " are no octets: " + shown(digits));
  }
  return octets;
}

Agent::Agent(const Address& at, milliseconds timeout) : timeout_(timeout) {
  try {
    tcp_ = Tcp::connect(at, timeout);
  } catch (const Unreachable& error) {
    throw Unreachable("no agent at " + to_string(at) + ": " + error.what());
  }
  ends_ = tcp_.ends(true);
  try {
    const Answer hello = call("hello version=1");
    if (hello.number("version") != 1)
      throw Unreachable("it speaks version " + hello.text("version"));
    name_ = hello.text("name");
    std::istringstream list(hello.text("features"));
    for (std::string feature; std::getline(list, feature, ',');) {
      if (feature != "none") features_.insert(feature);
    }
  } catch (const AgentError& error) {
    throw Unreachable("the agent at " + to_string(at) + " is of another version: " + error.what());
  } catch (const Unreachable& error) {
    throw Unreachable("what listens at " + to_string(at) +
                      " is no agent of version 1: " + error.what());
  }
}

void Agent::send_line(const std::string& line) {
  if (!tcp_.send(conform::octets(line + '\n'), timeout_)) {
    throw Unreachable("the agent has gone or takes no commands");
  }
}

std::string Agent::read_line(milliseconds longest) {
  const auto deadline = Clock::now() + timeout_ + longest;
  for (;;) {
    if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    if (received_.size() > kLongestLine) throw Unreachable("the agent's answer has no end");
    Octets octets;
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    switch (tcp_.receive(octets, std::max(left, milliseconds(0)))) {
      case Tcp::Got::kOctets: received_.append(octets.begin(), octets.end()); break;
      case Tcp::Got::kNothing:
        throw Unreachable("no answer" +
                          (received_.empty() ? std::string() : ", only " + shown(received_)));
      default:
        throw Unreachable("the control connection ended" +
                          (received_.empty() ? std::string() : " after " + shown(received_)));
    }
  }
}

// An answer that comes too late must not be taken for that of the next command.
std::string Agent::exchange(const std::string& command, milliseconds longest) {
  try {
    send_line(command);
    return read_line(longest);
  } catch (const Unreachable&) {
    tcp_.close();
    throw;
  }
}

Answer Agent::call(const std::string& command, milliseconds longest) {
  if (transcript_ != nullptr) {
    transcript_->add({.kind = Event::Kind::kAgentCommand, .text = noted(command)});
  }
  const std::string line = [&] {
    try {
      send_line(command);
      return read_line(longest);
    } catch (const Unreachable&) {
      tcp_.close();  // an answer that comes later must not be taken for that of another command
      throw;
    }
  }();
  if (transcript_ != nullptr)
    transcript_->add({.kind = Event::Kind::kAgentReply, .text = noted(line)});
  return parse_answer(command, line);
}

std::uint16_t Agent::listen(const std::string& options) {
  return static_cast<std::uint16_t>(call("listen" + in_front(options)).number("port"));
}

Region Agent::region(std::size_t size, const std::string& access, std::uint8_t fill) {
  const Answer answer = call("region" + pair("size", size) + " access=" + access +
                             " fill=" + to_hex(OctetView(&fill, 1)));
  return {.id = answer.number("region"),
          .stag = static_cast<std::uint32_t>(answer.number("stag")),
          .address = answer.number("address"),
          .size = size};
}

void Agent::deregister(const Region& region) { call("deregister" + pair("region", region.id)); }

Octets Agent::fetch(const Region& region, std::size_t offset, std::size_t length) {
  Octets data;
  do {  // even nothing is asked for once
    const std::size_t piece = std::min(length - data.size(), kPiece);
    const Octets got = call("fetch" + part_of(region, offset + data.size(), piece)).octets("data");
    if (got.size() != piece) throw Unreachable("the agent fetched another number of octets");
    data.insert(data.end(), got.begin(), got.end());
  } while (data.size() < length);
  return data;
}

void Agent::store(const Region& region, std::size_t offset, OctetView data) {
  for (std::size_t at = 0; at < data.size(); at += kPiece) {
    const OctetView piece = data.subspan(at, std::min(data.size() - at, kPiece));
    call("store" + pair("region", region.id) + pair("offset", offset + at) +
         " data=" + octet_text(piece));
  }
}

Answer Endpoint::call(const std::string& command, const std::string& rest, milliseconds longest) {
  return agent_->call(command + pair("endpoint", id_) + in_front(rest), longest);
}

void Endpoint::reject(OctetView private_data) {
  call("reject", "private=" + octet_text(private_data));
}

void Endpoint::receive(std::uint64_t id, const Region& region, std::size_t offset,
                       std::size_t length) {
  call("receive", "id=" + std::to_string(id) + part_of(region, offset, length));
}

void Endpoint::post(std::uint64_t id, const std::string& op, const std::string& rest) {
  const auto deadline = Clock::now() + agent_->timeout();
  for (;;) {
    try {
      call("post", "id=" + std::to_string(id) + " op=" + op + in_front(rest), kPostPatience);
      return;
    } catch (const AgentError& error) {
      if (error.code != "ENOTCONN" || leaving_ || Clock::now() > deadline) throw;
    }
    std::this_thread::sleep_for(kRetry);
  }
}

void Endpoint::send(std::uint64_t id, const Region& region, std::size_t offset, std::size_t length,
                    const std::string& op) {
  post(id, op, part_of(region, offset, length).substr(1));
}

void Endpoint::write(std::uint64_t id, const Region& region, std::size_t length, std::uint32_t stag,
                     std::uint64_t address) {
  post(id, "write", part_of(region, 0, length).substr(1) + remote(stag, address));
}

void Endpoint::read(std::uint64_t id, const Region& region, std::size_t length, std::uint32_t stag,
                    std::uint64_t address) {
  post(id, "read", part_of(region, 0, length).substr(1) + remote(stag, address));
}

std::uint32_t Endpoint::window(const Region& region, std::size_t offset, std::size_t length,
                               const std::string& access) {
  return static_cast<std::uint32_t>(
      call("window", part_of(region, offset, length).substr(1) + " access=" + access)
          .number("stag"));
}

std::optional<Completion> Endpoint::completion(milliseconds wait) {
  const Answer answer = call("completion", "ms=" + std::to_string(wait.count()), wait);
  if (answer.has("completion")) return std::nullopt;
  Completion completion{.id = answer.number("id"),
                        .status = answer.text("status"),
                        .op = answer.text("op"),
                        .length = answer.number("length")};
  if (answer.has("invalidated"))
    completion.invalidated = static_cast<std::uint32_t>(answer.number("invalidated"));
  if (answer.has("immediate")) completion.immediate = answer.octets("immediate");
  completion.solicited = answer.has("solicited");
  return completion;
}

std::string Endpoint::event(milliseconds wait, Answer* details) {
  const Answer answer = call("event", "ms=" + std::to_string(wait.count()), wait);
  if (details != nullptr) *details = answer;
  return answer.text("event");
}

}  // namespace iwarp::conform
