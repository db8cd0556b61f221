#pragma once

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "iwarp/process/log.hpp"

namespace iwarp::test {

/// Collects what the stack logs, from its construction to its destruction, as "level text".
class LogLines {
 public:
  LogLines() {
    auto logger = std::make_shared<spdlog::logger>("iwarp", sink_);
    logger->set_level(spdlog::level::trace);
    process::set_logger(std::move(logger));
  }
  ~LogLines() { process::set_logger(nullptr); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  [[nodiscard]] std::vector<std::string> all() const { return sink_->all(); }
  [[nodiscard]] std::size_t size() const { return all().size(); }
  /// The lines in which `words` occur.
  [[nodiscard]] std::vector<std::string> with(const std::string& words) const {
    auto lines = all();
    std::erase_if(lines,
                  [&words](const std::string& line) { return line.find(words) == line.npos; });
    return lines;
  }

 private:
  class Sink final : public spdlog::sinks::base_sink<std::mutex> {
   public:
    std::vector<std::string> all() {
      const std::lock_guard lock(mutex_);
      return lines_;
    }

   private:
    void sink_it_(const spdlog::details::log_msg& message) override {
      const auto level = spdlog::level::to_string_view(message.level);
      lines_.push_back(std::string(level.data(), level.size()) + " " +
                       std::string(message.payload.data(), message.payload.size()));
    }
    void flush_() override {}

    std::vector<std::string> lines_;
  };

  const std::shared_ptr<Sink> sink_ = std::make_shared<Sink>();
};

}  // namespace iwarp::test
