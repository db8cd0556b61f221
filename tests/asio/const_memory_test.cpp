#include <type_traits>

#include "fixture.hpp"

// Memory that is only read, and the one form that data has everywhere.
namespace iwarp::asio::test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kWords = "in memory that no program may write to";

// What is received or read into is to be writable, as far as the compiler can tell.
template <typename Memory>
concept read_into = requires(connection& c, const Memory& memory) {
  c.async_read(memory, remote_buffer{}, [](error_code) {});
};
template <typename Memory>
concept sent_from = requires(connection& c, const Memory& memory) {
  c.async_send(memory, [](error_code) {});
  c.async_write(memory, remote_buffer{}, [](error_code) {});
};
static_assert(read_into<registered_memory> && read_into<local_buffer>);
static_assert(!read_into<registered_const_memory> && !read_into<const_local_buffer>);
static_assert(sent_from<registered_memory> && sent_from<local_buffer>);
static_assert(sent_from<registered_const_memory> && sent_from<const_local_buffer>);
static_assert(sent_from<std::vector<std::byte>> && sent_from<std::span<const std::byte>>);
static_assert(!std::is_constructible_v<registered_memory, domain&, std::span<const std::byte>,
                                       access_rights>);
static_assert(std::is_constructible_v<registered_const_memory, domain&, std::vector<std::byte>&>);
static_assert(!std::is_constructible_v<registered_const_memory, domain&, std::vector<std::byte>>,
              "it ends with the call");
static_assert(!std::is_constructible_v<registered_const_memory, domain&, std::span<const std::byte>,
                                       access_rights>);

template <typename Memory, typename Octet>
concept gives = requires(const Memory& memory) {
  { memory.data() } -> std::same_as<Octet*>;
  { memory.size() } -> std::same_as<std::size_t>;
  { memory.bytes() } -> std::same_as<std::span<Octet>>;
};
static_assert(gives<registered_memory, std::byte> && gives<registered_buffer, std::byte>);
static_assert(gives<local_buffer, std::byte> && gives<message, const std::byte>);
static_assert(gives<const_local_buffer, const std::byte>);
static_assert(gives<registered_const_memory, const std::byte>);

class AsioConstMemory : public AsioTest {
 protected:
  void SetUp() override { connect_pair(); }
  std::string hear() {
    told<message> heard;
    server.async_receive(heard.handler());
    EXPECT_TRUE(run_until([&] { return heard.times == 1; }));
    EXPECT_FALSE(heard.error) << heard.error.message();
    return text(heard.result);
  }
};

TEST_F(AsioConstMemory, IsSentAndWritten) {
  const registered_const_memory words(client_domain, net::buffer(kWords));
  EXPECT_EQ(words.size(), kWords.size());
  EXPECT_FALSE(end_of([&](auto handler) { client.async_send(words, handler); }));
  EXPECT_EQ(hear(), kWords);
  EXPECT_FALSE(end_of([&](auto handler) {
    client.async_send({words.part(0, 3), words.part(kWords.size() - 2)}, handler);
  }));
  EXPECT_EQ(hear(), "in to");
  registered_buffer there(server_domain, 64,
                          access_rights::kLocalWrite | access_rights::kRemoteWrite);
  EXPECT_FALSE(end_of([&](auto handler) { client.async_write(words, there.remote(), handler); }));
  EXPECT_FALSE(end_of([&](auto handler) { client.async_send(text("written"), handler); }));
  EXPECT_EQ(hear(), "written");
  EXPECT_EQ(std::memcmp(there.data(), kWords.data(), kWords.size()), 0);
}

TEST_F(AsioConstMemory, IsReadByThePeerIfItMayBe) {
  const registered_const_memory words(server_domain, std::as_bytes(std::span(kWords)),
                                      source_rights::kRemoteRead);
  registered_buffer here(client_domain, kWords.size());
  EXPECT_FALSE(end_of([&](auto handler) { client.async_read(here, words.remote(), handler); }));
  EXPECT_EQ(std::memcmp(here.data(), kWords.data(), kWords.size()), 0);
}

TEST_F(AsioConstMemory, IsNotWrittenByThePeer) {
  std::vector<std::byte> octets(64, std::byte{7});
  const registered_const_memory guarded(server_domain, octets, source_rights::kRemoteRead);
  told<message> heard;
  server.async_receive(heard.handler());
  client.async_write(text("overwritten"), guarded.remote(), net::detached);
  ASSERT_TRUE(run_until([&] { return heard.times == 1; }));
  EXPECT_TRUE(heard.error);
  EXPECT_EQ(octets, std::vector<std::byte>(64, std::byte{7}));
}

// By a request of which the compiler does not know what it does to the memory.
TEST_F(AsioConstMemory, IsNotReadInto) {
  const registered_const_memory words(client_domain, net::buffer(kWords));
  registered_buffer there(server_domain, 64, access_rights::kRemoteRead);
  const send_request read{
      .opcode = verbs::Opcode::kRead, .local = words.part(0, 8), .remote = there.remote()};
  EXPECT_EQ(end_of([&](auto handler) { client.async_request(read, handler); }), errc::not_writable);
  EXPECT_TRUE(client.is_open());
}

TEST_F(AsioConstMemory, ThatIsNotRegisteredIsCopied) {
  const std::array<const char, 5> letters{'h', 'e', 'l', 'l', 'o'};
  const auto octets = std::as_bytes(std::span(letters));
  EXPECT_FALSE(end_of([&](auto handler) { client.async_send(octets, handler); }));
  EXPECT_EQ(hear(), "hello");
  registered_buffer there(server_domain, 64,
                          access_rights::kLocalWrite | access_rights::kRemoteWrite);
  EXPECT_FALSE(end_of([&](auto handler) { client.async_write(octets, there.remote(), handler); }));
  EXPECT_FALSE(end_of([&](auto handler) { client.async_send(octets, handler); }));
  EXPECT_EQ(hear(), "hello");
  EXPECT_EQ(std::memcmp(there.data(), "hello", 5), 0);
}

// Also one that waits behind more than the device is given at once.
TEST_F(AsioConstMemory, ThatIsNotRegisteredMayChangeAtOnce) {
  registered_buffer there(server_domain, 64,
                          access_rights::kLocalWrite | access_rights::kRemoteWrite);
  told<> first, waiting;
  {
    std::array letters{'h', 'e', 'l', 'l', 'o'};
    client.async_send(std::as_bytes(std::span(letters)), first.handler());
    for (int i = 0; i < 128; ++i) client.async_write(text("x"), there.remote(), net::detached);
    client.async_send(std::as_bytes(std::span(letters)), waiting.handler());
    letters.fill('?');
  }
  ASSERT_TRUE(run_until([&] { return first.times == 1 && waiting.times == 1; }));
  EXPECT_EQ(hear(), "hello");
  EXPECT_EQ(hear(), "hello");
}

TEST_F(AsioConstMemory, AMessageIsSentOnFromWhereItLies) {
  told<message> heard;
  server.async_receive(heard.handler());
  client.async_send(text("back and forth"), net::detached);
  ASSERT_TRUE(run_until([&] { return heard.times == 1; }));
  EXPECT_EQ(heard.result.text(), "back and forth");
  EXPECT_EQ(heard.result.bytes().size(), heard.result.size());
  told<message> echoed;
  client.async_receive(echoed.handler());
  EXPECT_FALSE(end_of([&](auto handler) { server.async_send(heard.result.buffer(), handler); }));
  ASSERT_TRUE(run_until([&] { return echoed.times == 1; }));
  std::array<char, 64> copy{};
  EXPECT_EQ(net::buffer_copy(net::buffer(copy), net::const_buffer(echoed.result)), 14U);
  EXPECT_STREQ(copy.data(), "back and forth");
  EXPECT_EQ(message().text(), "");
  EXPECT_EQ(message().data(), nullptr);
}

}  // namespace
}  // namespace iwarp::asio::test
