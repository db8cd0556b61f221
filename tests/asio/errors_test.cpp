#include "fixture.hpp"

namespace iwarp::asio::test {
namespace {

using testing::HasSubstr;

TEST(AsioErrors, HaveMessagesThatNameTheLayer) {
  for (int value = 1; value <= static_cast<int>(errc::beyond_remote_buffer); ++value) {
    const std::string message = error_code(value, error_category()).message();
    EXPECT_THAT(message, testing::MatchesRegex("(verbs|RDMAP|MPA|asio): .+")) << value;
    EXPECT_THAT(message, testing::Not(HasSubstr("unknown"))) << value;
  }
  EXPECT_THAT(error_code(1000, error_category()).message(), HasSubstr("unknown"));
  const error_code terminate(1 << 24 | 1 << 16 | 1 << 8, received_terminate_category());
  EXPECT_EQ(terminate.message(), "the peer terminated: DDP: invalid STag");
}

TEST(AsioErrors, MisuseIsWhatTheCallerGotWrong) {
  for (const errc misuse :
       {errc::not_registered, errc::not_writable, errc::beyond_remote_buffer, errc::window_bind,
        errc::not_connected, errc::invalid_request, errc::too_many_buffers, errc::no_message_pool,
        errc::has_message_pool, errc::not_supported}) {
    EXPECT_EQ(error_code(misuse), condition::misuse) << error_code(misuse).message();
  }
  for (const errc other :
       {errc::message_too_long, errc::remote_access, errc::remote_invalid_request,
        errc::remote_operation, errc::local_queue_pair, errc::connection_lost, errc::rejected}) {
    EXPECT_NE(error_code(other), condition::misuse) << error_code(other).message();
  }
  EXPECT_NE(error_code(), condition::misuse);
  EXPECT_NE(error_code(net::error::eof), condition::misuse);
  EXPECT_NE(error_code(1, received_terminate_category()), condition::misuse);
  EXPECT_THAT(make_error_condition(condition::misuse).message(), HasSubstr("the caller"));
}

}  // namespace
}  // namespace iwarp::asio::test
