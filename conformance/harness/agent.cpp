#include "harness/agent.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <thread>

namespace iwarp::conform {

using agent_protocol::AnswerPair, agent_protocol::Command, agent_protocol::Operation,
    agent_protocol::Pair;

namespace {

constexpr milliseconds kRetry{2};
constexpr std::size_t kPiece = 65536;  // of memory in one command or answer
static_assert(kPiece <= agent_protocol::kMostOctets);
// A request for a queue pair that is not connected yet waits for that.
constexpr milliseconds kPostPatience{5000};
constexpr std::size_t kShown = 200;  // of a line that cannot be believed

std::string shown(std::string_view line) {
  std::string text;
  for (const char c : line.substr(0, kShown)) text += c >= ' ' && c <= '~' ? c : '.';
  return '"' + text + (line.size() > kShown ? "…\"" : "\"");
}

// A line for the transcript. Of a long one, which moves octets, the beginning is enough.
std::string noted(const std::string& line) {
  constexpr std::size_t kLongest = 1000;
  if (line.size() <= kLongest) return line;
  return line.substr(0, kLongest) + "… and " + std::to_string(line.size() - kLongest) +
         " characters";
}

std::string pair(Pair name, std::string_view value) {
  return std::string(name).append("=").append(value);
}
std::string pair(Pair name, std::uint64_t value) { return pair(name, std::to_string(value)); }
std::string waiting(milliseconds wait) {
  return pair("ms", static_cast<std::uint64_t>(wait.count()));
}
std::string remote(std::uint32_t stag, std::uint64_t address) {
  return pair("stag", hex_number(stag, 8)) + ' ' + pair("address", hex_number(address, 16));
}
// Pairs, or none, behind a word or a pair.
std::string behind(const std::string& pairs) { return pairs.empty() ? pairs : ' ' + pairs; }

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

std::string part_of(const Region& region, std::size_t offset, std::size_t length) {
  return pair("region", region.id) + ' ' + pair("offset", offset) + ' ' + pair("length", length);
}

std::string octet_text(OctetView octets) { return octets.empty() ? "-" : to_hex(octets); }

const std::string& Answer::text(AnswerPair name) const {
  const auto found = pairs_.find(name.text());
  if (found == pairs_.end()) {
    throw Unreachable("the agent's answer lacks " + std::string(name));
  }
  return found->second;
}

std::uint64_t Answer::number(AnswerPair name) const {
  std::string_view digits = text(name);
  const bool hex = digits.starts_with("0x");
  if (hex) digits.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    throw Unreachable("the agent's " + std::string(name) + " is no number: " + shown(text(name)));
  }
  return value;
}

Octets Answer::octets(AnswerPair name) const {
  Octets octets;
  const std::string& digits = text(name);
  if (digits != "-" && !from_hex(digits, octets)) {
    throw Unreachable("the agent's " + std::string(name) + " are no octets: " + shown(digits));
  }
  return octets;
}

Agent::Agent(const Address& at, milliseconds timeout) : timeout_(timeout) {
  try {
    tcp_ = Tcp::connect(at, timeout);
  } catch (const Unreachable& error) {
    throw Unreachable("cannot reach the agent: " + std::string(error.what()));
  }
  ends_ = tcp_.ends(true);
  try {
    const Answer hello = call("hello", pair("version", agent_protocol::kVersion));
    if (hello.number("version") != agent_protocol::kVersion) {
      throw Unreachable("it speaks version " + hello.text("version"));
    }
    name_ = hello.text("name");
    std::istringstream list(hello.text("features"));
    for (std::string feature; std::getline(list, feature, ',');) {
      if (feature != agent_protocol::kNone) features_.insert(feature);
    }
  } catch (const AgentError& error) {
    throw Unreachable("the agent at " + to_string(at) + " is of another version: " + error.what());
  } catch (const Unreachable& error) {
    throw Unreachable("what listens at " + to_string(at) + " is no agent of version " +
                      std::to_string(agent_protocol::kVersion) + ": " + error.what());
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
    if (received_.size() > agent_protocol::kLongestLine)
      throw Unreachable("the agent's answer has no end");
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

Answer Agent::call(const std::string& line, milliseconds longest) {
  if (transcript_ != nullptr) {
    transcript_->add({.kind = Event::Kind::kAgentCommand, .text = noted(line)});
  }
  const std::string answer = exchange(line, longest);
  if (transcript_ != nullptr) {
    transcript_->add({.kind = Event::Kind::kAgentReply, .text = noted(answer)});
  }
  return parse_answer(line, answer);
}

Answer Agent::call(Command word, const std::string& pairs, milliseconds longest) {
  return call(std::string(word) + behind(pairs), longest);
}

std::uint16_t Agent::listen(const std::string& options) {
  return static_cast<std::uint16_t>(call("listen", options).number("port"));
}

Answer Agent::await(milliseconds wait) { return call("await", waiting(wait), wait); }

Region Agent::region(std::size_t size, const std::string& access, std::uint8_t fill) {
  const Answer answer = call("region", pair("size", size) + ' ' + pair("access", access) + ' ' +
                                           pair("fill", to_hex(OctetView(&fill, 1))));
  return {.id = answer.number("region"),
          .stag = static_cast<std::uint32_t>(answer.number("stag")),
          .address = answer.number("address"),
          .size = size};
}

void Agent::deregister(const Region& region) { call("deregister", pair("region", region.id)); }

Octets Agent::fetch(const Region& region, std::size_t offset, std::size_t length) {
  Octets data;
  do {  // a fetch of no octets is asked, too
    const std::size_t piece = std::min(length - data.size(), kPiece);
    const Octets got = call("fetch", part_of(region, offset + data.size(), piece)).octets("data");
    if (got.size() != piece) throw Unreachable("the agent fetched another number of octets");
    data.insert(data.end(), got.begin(), got.end());
  } while (data.size() < length);
  return data;
}

void Agent::store(const Region& region, std::size_t offset, OctetView data) {
  for (std::size_t at = 0; at < data.size(); at += kPiece) {
    const OctetView piece = data.subspan(at, std::min(data.size() - at, kPiece));
    call("store", pair("region", region.id) + ' ' + pair("offset", offset + at) + ' ' +
                      pair("data", octet_text(piece)));
  }
}

Answer Endpoint::call(Command word, const std::string& pairs, milliseconds longest) {
  return agent_->call(word, pair("endpoint", id_) + behind(pairs), longest);
}

void Endpoint::reject(OctetView private_data) {
  call("reject", pair("private", octet_text(private_data)));
}

void Endpoint::receive(std::uint64_t id, const Region& region, std::size_t offset,
                       std::size_t length) {
  call("receive", pair("id", id) + ' ' + part_of(region, offset, length));
}

void Endpoint::post(std::uint64_t id, Operation op, const std::string& rest) {
  const auto deadline = Clock::now() + agent_->timeout();
  for (;;) {
    try {
      call("post", pair("id", id) + ' ' + pair("op", op) + behind(rest), kPostPatience);
      return;
    } catch (const AgentError& error) {
      if (!error.is("ENOTCONN") || leaving_ || Clock::now() > deadline) throw;
    }
    std::this_thread::sleep_for(kRetry);
  }
}

void Endpoint::send(std::uint64_t id, const Region& region, std::size_t offset, std::size_t length,
                    Operation op) {
  post(id, op, part_of(region, offset, length));
}

void Endpoint::write(std::uint64_t id, const Region& region, std::size_t length, std::uint32_t stag,
                     std::uint64_t address) {
  post(id, "write", part_of(region, 0, length) + ' ' + remote(stag, address));
}

void Endpoint::read(std::uint64_t id, const Region& region, std::size_t length, std::uint32_t stag,
                    std::uint64_t address) {
  post(id, "read", part_of(region, 0, length) + ' ' + remote(stag, address));
}

std::uint32_t Endpoint::window(const Region& region, std::size_t offset, std::size_t length,
                               const std::string& access) {
  return static_cast<std::uint32_t>(
      call("window", part_of(region, offset, length) + ' ' + pair("access", access))
          .number("stag"));
}

std::optional<Completion> Endpoint::completion(milliseconds wait) {
  const Answer answer = call("completion", waiting(wait), wait);
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
  const Answer answer = call("event", waiting(wait), wait);
  if (details != nullptr) *details = answer;
  return answer.text("event");
}

}  // namespace iwarp::conform
