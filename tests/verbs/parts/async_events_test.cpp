#include "iwarp/provider/async_events.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace iwarp::verbs {
namespace {

using namespace std::chrono_literals;

AsyncEvent numbered(std::uint32_t number) {
  return {AsyncEvent::Kind::kQpFatal, number, "queue pair " + std::to_string(number)};
}

void report(AsyncEvents& events, std::uint32_t from, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) events.report(numbered(from + i));
}

std::vector<std::uint32_t> kept(AsyncEvents& events) {
  std::vector<std::uint32_t> numbers;
  while (const auto event = events.wait(0ms)) numbers.push_back(event->number);
  return numbers;
}

TEST(KeptAsyncEvents, OfThoseBeforeTheFirstWaitTheLatestAreKept) {
  AsyncEvents events;
  report(events, 0, AsyncEvents::kMostUnasked + 5);
  const auto numbers = kept(events);
  ASSERT_EQ(numbers.size(), AsyncEvents::kMostUnasked);
  EXPECT_EQ(numbers.front(), 5U);
  EXPECT_EQ(numbers.back(), AsyncEvents::kMostUnasked + 4);
}

TEST(KeptAsyncEvents, AProgramThatWaitsForThemMayBeLongInComing) {
  AsyncEvents events;
  EXPECT_FALSE(events.wait(0ms));
  report(events, 0, AsyncEvents::kMost + 5);
  const auto numbers = kept(events);
  ASSERT_EQ(numbers.size(), AsyncEvents::kMost);
  EXPECT_EQ(numbers.front(), 5U);
}

// The thread that reports is in the middle of ending a connection.
TEST(KeptAsyncEvents, WhatAHandlerThrowsIsNoMatterOfTheReport) {
  AsyncEvents events;
  int called = 0;
  events.on_event([&called](const AsyncEvent&) {
    ++called;
    throw std::runtime_error("by the program");
  });
  EXPECT_NO_THROW(report(events, 7, 2));
  EXPECT_EQ(called, 2);
}

TEST(KeptAsyncEvents, WithAHandlerNoneIsKept) {
  AsyncEvents events;
  std::vector<std::string> told;
  events.on_event([&told](const AsyncEvent& event) { told.push_back(event.message); });
  report(events, 7, 1);
  EXPECT_EQ(told, std::vector<std::string>{"queue pair 7"});
  EXPECT_FALSE(events.wait(0ms));
}

}  // namespace
}  // namespace iwarp::verbs
