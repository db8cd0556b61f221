#include "fixture.hpp"

namespace iwarp::asio::test {
namespace {

class AsioOneSided : public AsioTest {
 protected:
  AsioOneSided() { connect_pair(); }

  registered_buffer there{server_domain, 65536,
                          access_rights::kLocalWrite | access_rights::kRemoteWrite |
                              access_rights::kRemoteRead | access_rights::kRemoteAtomic};
  registered_buffer here{client_domain, 65536};
};

TEST_F(AsioOneSided, WriteThenReadGivesTheSame) {
  for (std::size_t i = 0; i < here.size(); ++i) here.data()[i] = static_cast<std::byte>(i * 7);
  const std::vector<std::byte> original(here.data(), here.data() + here.size());
  told<> written, read;
  client.async_write(here, there.remote(), written.handler());
  ASSERT_TRUE(run_until([&] { return written.times == 1; }));
  EXPECT_FALSE(written.error);
  std::memset(here.data(), 0, here.size());
  client.async_read(here, there.remote(), read.handler());
  ASSERT_TRUE(run_until([&] { return read.times == 1; }));
  EXPECT_FALSE(read.error) << read.error.message();
  EXPECT_EQ(std::memcmp(here.data(), original.data(), original.size()), 0);
}

TEST_F(AsioOneSided, ReadMayScatter) {
  std::memcpy(there.data(), "abcdefgh", 8);
  told<> read;
  client.async_read({here.part(100, 3), here.part(0, 5)}, there.remote(0, 8), read.handler());
  ASSERT_TRUE(run_until([&] { return read.times == 1; }));
  EXPECT_FALSE(read.error) << read.error.message();
  EXPECT_EQ(std::memcmp(here.data() + 100, "abc", 3), 0);
  EXPECT_EQ(std::memcmp(here.data(), "defgh", 5), 0);
}

TEST_F(AsioOneSided, AtomicsTellWhatWasBefore) {
  const std::uint64_t start = 40;
  std::memcpy(there.data(), &start, sizeof start);
  const remote_buffer counter = there.remote(0, 8);
  told<std::uint64_t> added, swapped, not_swapped;
  client.async_fetch_add(counter, 2, added.handler());
  client.async_compare_swap(counter, 42, 7, swapped.handler());
  client.async_compare_swap(counter, 42, 9, not_swapped.handler());
  ASSERT_TRUE(run_until([&] { return not_swapped.times == 1; }));
  EXPECT_EQ(added.result, 40U);
  EXPECT_EQ(swapped.result, 42U);
  EXPECT_EQ(not_swapped.result, 7U);
  std::uint64_t end = 0;
  std::memcpy(&end, there.data(), sizeof end);
  EXPECT_EQ(end, 7U);
}

TEST_F(AsioOneSided, ManyAtomicsAtOnceAllCount) {
  told<std::uint64_t> added;
  for (int i = 0; i < 500; ++i) client.async_fetch_add(there.remote(8, 8), 3, added.handler());
  ASSERT_TRUE(run_until([&] { return added.times == 500; }));
  EXPECT_EQ(added.result, 3U * 499U);
}

TEST_F(AsioOneSided, WriteWithImmediateNotifies) {
  std::memcpy(here.data(), "payload", 7);
  told<message> got;
  server.async_receive(got.handler());
  client.async_write_immediate(here.part(0, 7), there.remote(32, 7), 99, net::detached);
  ASSERT_TRUE(run_until([&] { return got.times == 1; }));
  EXPECT_EQ(got.result.immediate(), 99U);
  EXPECT_EQ(got.result.written(), 7U);
  EXPECT_EQ(std::memcmp(there.data() + 32, "payload", 7), 0);
}

TEST_F(AsioOneSided, RemoteBuffersTravelAsOctets) {
  const remote_buffer part = there.remote(4096, 100);
  EXPECT_EQ(part.length, 100U);
  EXPECT_EQ(remote_buffer::from_bytes(part.to_bytes()), part);
  EXPECT_EQ(part.part(90, 100).length, 10U);
  EXPECT_EQ(part.part(200).length, 0U);
  const auto bytes = remote_buffer{Stag{0x01020304}, 0x1122334455667788U, 5}.to_bytes();
  EXPECT_EQ(bytes[0], std::byte{0x11});
  EXPECT_EQ(bytes[8], std::byte{0x01});
  EXPECT_EQ(bytes[19], std::byte{5});
}

TEST_F(AsioOneSided, FenceWaitsForTheReadBefore) {
  std::memcpy(there.data(), "original", 8);
  send_request fenced{.opcode = verbs::Opcode::kWrite,
                      .unregistered = text("replaced"),
                      .remote = there.remote(0, 8),
                      .fence = true};
  told<> read, written;
  client.async_read(here.part(0, 8), there.remote(0, 8), read.handler());
  client.async_request(fenced, written.handler());
  ASSERT_TRUE(run_until([&] { return read.times == 1 && written.times == 1; }));
  EXPECT_EQ(std::memcmp(here.data(), "original", 8), 0);
}

}  // namespace
}  // namespace iwarp::asio::test
