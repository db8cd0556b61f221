#pragma once

#include <string>

#include "report/report.hpp"
#include "wire/segment.hpp"
#include "wire/startup_frame.hpp"

namespace iwarp::conform::test {

/// A case as the harness would record it, without any target.
class FakeCase {
 public:
  explicit FakeCase(const std::string& id,
                    const std::string& title = "The target does as it should");

  /// Connects and exchanges start-up frames. `markers`: of both directions.
  FakeCase& connect(bool markers = false);
  /// The target connects, over IPv6.
  FakeCase& be_connected();
  FakeCase& send(const Segment& segment, const FpduFault& fault = {});
  FakeCase& receive(const Segment& segment, const FpduFault& fault = {});
  /// Octets that come without the case looking at them.
  FakeCase& receive_unseen(OctetView octets);
  FakeCase& event(Event event);
  FakeCase& say(Event::Kind kind, std::string text);
  /// The FPDU as the target would send it next.
  Octets received_frame(const Segment& segment, const FpduFault& fault = {});

  Result pass() { return conclude(Verdict::kPass, {}); }
  Result fail(const std::string& expected, const std::string& got);
  Result conclude(Verdict verdict, const std::string& text);

 private:
  Result result_;
  void start_up(const ConnectionEnds& ends, bool markers);

  std::size_t connection_ = 0;
  Framing framing_;
  FpduWriter sent_, received_;
};

/// A string that lives as long as the program, for the ids of cases.
std::string_view lasting(std::string text);

/// Requirements, cases of each verdict and texts and octets that want to become markup.
Report fake_report();
/// What hostile targets say; a reader of a report must see it and nothing else.
inline constexpr std::string_view kMarkup =
    "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
    "'\"&amp;]]>{{data}}\x1b[31m";

/// As large a run as the suite may have: `cases` cases with about `events` events each.
Report large_report(std::size_t cases, std::size_t events);

}  // namespace iwarp::conform::test
