#include "iwarp/verbs/post_error.hpp"

#include <gtest/gtest.h>

#include <array>

#include "soft/qp/work/send_form.hpp"

// Which field of a request is wrong, and the sentence that says so.
namespace iwarp::verbs::soft {
namespace {

constexpr QpCapacity kCapacity{.max_send_sge = 3, .max_inline = 16};

std::optional<PostError> formed(const SendWr& request) {
  const OperationRow* row = row_of(request.opcode);
  return row == nullptr ? unknown_opcode()
                        : check_form(*row, request, octets_of(request.sges), kCapacity);
}

Sge octets(std::uint32_t length) { return {nullptr, length, Stag{1}}; }

struct Malformed {
  const char* name;
  SendWr request;
  std::errc code;
  PostField field;
  const char* begins;
};

const std::array kOne{octets(1)};
const std::array kFour{octets(1), octets(1), octets(1), octets(1)};
const std::array kTooLong{octets(1U << 31U), octets((1U << 31U) - 1U), octets(1)};
const std::array kLongFirst{octets(17), octets(1)};
const std::array kLongSecond{octets(16), octets(0), octets(1)};
const BindWr kBind;

const Malformed kMalformed[] = {
    {"NoOperation",
     {.opcode = static_cast<Opcode>(200)},
     std::errc::invalid_argument,
     PostField::kOpcode,
     "request 0: opcode: "},
    {"ListOfImmediate",
     {.opcode = Opcode::kImmediate, .sges = kOne},
     std::errc::invalid_argument,
     PostField::kSges,
     "request 0: sges: "},
    {"ListOfBinding",
     {.opcode = Opcode::kBindWindow, .sges = kOne, .bind = &kBind},
     std::errc::invalid_argument,
     PostField::kSges,
     "request 0: sges: "},
    {"AtomicOfOneOctet",
     {.opcode = Opcode::kFetchAdd, .sges = kOne},
     std::errc::invalid_argument,
     PostField::kSges,
     "request 0: sges: what an atomic operation fetches"},
    {"BindingOfNothing",
     {.opcode = Opcode::kBindWindow},
     std::errc::invalid_argument,
     PostField::kBind,
     "request 0: bind: "},
    {"RegistrationOfNothing",
     {.opcode = Opcode::kRegister},
     std::errc::invalid_argument,
     PostField::kRegistration,
     "request 0: registration: "},
    {"TooManyElements",
     {.sges = kFour},
     std::errc::invalid_argument,
     PostField::kSges,
     "request 0: sges: more elements than QpCapacity::max_send_sge"},
    {"TooLong",
     {.opcode = Opcode::kWrite, .sges = kTooLong},
     std::errc::message_size,
     PostField::kSgeLength,
     "request 0: sges[2].length: "},
    {"InlineRead",
     {.opcode = Opcode::kRead, .flags = SendFlags::kInline, .sges = kOne},
     std::errc::invalid_argument,
     PostField::kFlags,
     "request 0: flags: kInline"},
    {"TooMuchInlineAtFirst",
     {.flags = SendFlags::kInline, .sges = kLongFirst},
     std::errc::invalid_argument,
     PostField::kSgeLength,
     "request 0: sges[0].length: with it kInline"},
    {"TooMuchInlineAtLast",
     {.flags = SendFlags::kInline, .sges = kLongSecond},
     std::errc::invalid_argument,
     PostField::kSgeLength,
     "request 0: sges[2].length: with it kInline"},
};

class MalformedRequest : public testing::TestWithParam<Malformed> {};
INSTANTIATE_TEST_SUITE_P(Fields, MalformedRequest, testing::ValuesIn(kMalformed),
                         [](const auto& of) { return std::string(of.param.name); });

TEST_P(MalformedRequest, IsToldByItsField) {
  const auto error = formed(GetParam().request);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, GetParam().code);
  EXPECT_EQ(error->field, GetParam().field);
  EXPECT_EQ(error->message().rfind(GetParam().begins, 0), 0U) << error->message();
}

TEST(WellFormedRequest, IsTaken) {
  const std::array three{octets(1U << 31U), octets((1U << 31U) - 1U), octets(0)};
  EXPECT_FALSE(formed({.opcode = Opcode::kWrite, .sges = three}));
  const std::array sixteen{octets(16)};
  EXPECT_FALSE(formed({.flags = SendFlags::kInline, .sges = sixteen}));
  EXPECT_FALSE(formed({.opcode = Opcode::kImmediate}));
  const std::array word{octets(4), octets(4)};
  EXPECT_FALSE(formed({.opcode = Opcode::kFetchAdd, .sges = word}));
}

TEST(PostErrorMessage, NamesTheRequestAndTheField) {
  EXPECT_EQ((PostError{std::errc::message_size, 3, PostField::kSgeLength, 2, "too long"}).message(),
            "request 3: sges[2].length: too long");
  EXPECT_EQ(
      (PostError{std::errc::invalid_argument, 1, PostField::kFlags, 0, "none such"}).message(),
      "request 1: flags: none such");
}

TEST(PostErrorMessage, SaysWhatTheCodeMeansWhereThereAreNoOtherWords) {
  EXPECT_EQ((PostError{std::errc::not_enough_memory, 7}).message(), "request 7: the queue is full");
  EXPECT_EQ((PostError{std::errc::not_connected, 0}).message(),
            "request 0: the queue pair is not connected, or is being closed");
  for (const std::errc code :
       {std::errc::invalid_argument, std::errc::message_size, std::errc::not_supported,
        std::errc::no_such_device, std::errc::io_error}) {
    EXPECT_GT((PostError{code, 0}).message().size(), std::string("request 0: ").size());
  }
}

TEST(PostFieldName, IsTheMembers) {
  EXPECT_STREQ(to_string(PostField::kNone), "");
  EXPECT_STREQ(to_string(PostField::kOpcode), "opcode");
  EXPECT_STREQ(to_string(static_cast<PostField>(99)), "unknown field");
}

}  // namespace
}  // namespace iwarp::verbs::soft
