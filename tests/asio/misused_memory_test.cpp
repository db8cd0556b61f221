#include "misuse.hpp"

namespace iwarp::asio::test {
namespace {

using testing::HasSubstr;

/// Memory that is not there, not so large, or not for that: this side's, and the peer's.
class AsioMisusedMemory : public MisuseTest {};

TEST_F(AsioMisusedMemory, LargeMemoryThatIsNotRegistered) {
  connect_pair();
  const std::string large(1000, 'x');
  expect_refused(errc::not_registered, "1000 octets of memory that is not registered",
                 [&](auto handler) { client.async_send(net::buffer(large), handler); });
}

TEST_F(AsioMisusedMemory, MemoryOfAnotherDomain) {
  connect_pair();
  registered_buffer foreign(server_domain, 64);
  expect_refused(errc::not_registered, "registered in another domain",
                 [&](auto handler) { client.async_send(local_buffer(foreign), handler); });
}

TEST_F(AsioMisusedMemory, MemoryThatIsRegisteredNoMore) {
  connect_pair();
  local_buffer stale;
  {
    registered_buffer memory(client_domain, 64);
    stale = memory;
    EXPECT_FALSE(end_of([&](auto handler) { client.async_write(stale, there.remote(), handler); }));
  }
  expect_refused(errc::not_registered, "no memory is registered under that key",
                 [&](auto handler) { client.async_write(stale, there.remote(), handler); });
}

TEST_F(AsioMisusedMemory, MoreThanIsRegistered) {
  connect_pair();
  registered_buffer memory(client_domain, 64);
  const local_buffer whole = memory;
  const local_buffer beyond(whole.data(), 65, whole.lkey());
  expect_refused(errc::not_registered, "not inside the 64 octets",
                 [&](auto handler) { client.async_send(beyond, handler); });
  const local_buffer before(whole.data() - 1, 8, whole.lkey());
  expect_refused(errc::not_registered, "not inside the 64 octets",
                 [&](auto handler) { client.async_write(before, there.remote(), handler); });
}

TEST_F(AsioMisusedMemory, ReadIntoMemoryWithoutLocalWrite) {
  connect_pair();
  registered_buffer memory(client_domain, 64, access_rights::kNone);
  expect_refused(errc::not_writable, "without access_rights::kLocalWrite",
                 [&](auto handler) { client.async_read(memory, there.remote(0, 64), handler); });
}

// The second element is the wrong one.
TEST_F(AsioMisusedMemory, EachElementOfAListIsLookedAt) {
  connect_pair();
  registered_buffer memory(client_domain, 64);
  registered_buffer closed(client_domain, 64, access_rights::kNone);
  expect_refused(errc::not_writable, "64 octets at", [&](auto handler) {
    client.async_read({memory, closed}, there.remote(0, 128), handler);
  });
}

// Memory that verbs have registered is known to the device.
TEST_F(AsioMisusedMemory, MemoryThatVerbsRegistered) {
  connect_pair();
  std::vector<std::byte> octets(64);
  auto region = client_domain.native_handle().register_memory(octets, access_rights::kNone);
  ASSERT_TRUE(region);
  const local_buffer good(octets.data(), octets.size(), region->lkey());
  EXPECT_FALSE(end_of([&](auto handler) { client.async_write(good, there.remote(), handler); }));
  expect_refused(errc::not_writable, "without local write",
                 [&](auto handler) { client.async_read(good, there.remote(0, 64), handler); });
  const local_buffer beyond(octets.data(), 65, region->lkey());
  expect_refused(errc::not_registered, "not inside what is registered",
                 [&](auto handler) { client.async_send(beyond, handler); });
  auto other = server_domain.native_handle().register_memory(octets, access_rights::kNone);
  ASSERT_TRUE(other);
  const local_buffer foreign(octets.data(), 64, other->lkey());
  expect_refused(errc::not_registered, "in another domain",
                 [&](auto handler) { client.async_send(foreign, handler); });
  const local_buffer unknown(octets.data(), 64, Stag{region->lkey().value() + 0x100});
  expect_refused(errc::not_registered, "no memory is registered under that key",
                 [&](auto handler) { client.async_send(unknown, handler); });
}

TEST_F(AsioMisusedMemory, MemoryWhoseRegistrationEndsWhileTheRequestWaits) {
  connect_pair();
  auto memory = std::make_unique<registered_buffer>(client_domain, 64);
  told<> sent, late;
  for (int i = 0; i < 128; ++i) {  // as many as the device is given at once
    client.async_write(text("x"), there.remote(), sent.handler());
  }
  client.async_send(*memory, late.handler());
  memory.reset();
  ASSERT_TRUE(run_until([&] { return sent.times == 128 && late.times == 1; }));
  EXPECT_FALSE(sent.error);
  EXPECT_EQ(late.error, errc::not_registered);
  EXPECT_TRUE(client.is_open());
}

TEST_F(AsioMisusedMemory, ZeroBasedMemory) {
  EXPECT_THROW(registered_buffer(client_domain, 64, access_rights::kZeroBased),
               boost::system::system_error);
}

TEST_F(AsioMisusedMemory, PeersMemoryWithoutTheRight) {
  connect_pair();
  registered_buffer closed(server_domain, 64, access_rights::kLocalWrite);
  told<> read;
  registered_buffer here(client_domain, 64);
  client.async_read(here, closed.remote(), read.handler());
  ASSERT_TRUE(run_until([&] { return read.times == 1; }));
  EXPECT_EQ(read.error, errc::remote_access);
  EXPECT_NE(read.error, condition::misuse);
  EXPECT_THAT(client.last_failure(), HasSubstr("STag 0x"));
  ASSERT_TRUE(run_until([&] { return !client.is_open(); }));
  EXPECT_THAT(client.why(), HasSubstr("STag 0x"));
  EXPECT_THAT(client.why(), HasSubstr("the peer terminated"));
}

TEST_F(AsioMisusedMemory, ReadOfMoreThanTheRemoteBuffer) {
  connect_pair();
  registered_buffer here(client_domain, 128);
  expect_refused(errc::beyond_remote_buffer, "128 octets, and its remote_buffer",
                 [&](auto handler) { client.async_read(here, there.remote(0, 64), handler); });
}

TEST_F(AsioMisusedMemory, WriteOfMoreThanTheRemoteBuffer) {
  connect_pair();
  registered_buffer here(client_domain, 128);
  expect_refused(errc::beyond_remote_buffer, "RDMA Write: 128 octets, and its remote_buffer",
                 [&](auto handler) { client.async_write(here, there.remote(0, 127), handler); });
  expect_refused(errc::beyond_remote_buffer, "has 3", [&](auto handler) {
    client.async_write(text("four"), there.remote(0, 3), handler);
  });
  expect_refused(
      errc::beyond_remote_buffer, "RDMA Write with immediate: 128 octets",
      [&](auto handler) { client.async_write_immediate(here, there.remote(0, 64), 1, handler); });
  expect_refused(errc::beyond_remote_buffer, "has 0",
                 [&](auto handler) { client.async_write(here, remote_buffer{}, handler); });
}

TEST_F(AsioMisusedMemory, AtomicOnMoreThanTheRemoteBuffer) {
  connect_pair();
  const auto add_at = [&](const remote_buffer& where) {
    return [&, where](auto handler) {
      client.async_fetch_add(
          where, 1, [handler](error_code error, std::uint64_t) mutable { handler(error); });
    };
  };
  expect_refused(errc::beyond_remote_buffer, "FetchAdd: 8 octets", add_at(there.remote(0, 4)));
}

TEST_F(AsioMisusedMemory, WindowsThatCannotBeBound) {
  connect_pair();
  memory_window window(client_domain);
  registered_buffer plain(client_domain, 64);
  registered_buffer readable(client_domain, 64, access_rights::kWindowBind);
  registered_buffer foreign(server_domain, 64,
                            access_rights::kWindowBind | access_rights::kLocalWrite);
  const auto bind = [&](const registered_memory& region, std::size_t size, access_rights rights) {
    return [&, size, rights](auto handler) {
      client.async_bind(window, region, 0, size, rights,
                        [handler](error_code error, remote_buffer) mutable { handler(error); });
    };
  };
  expect_refused(errc::window_bind, "without access_rights::kWindowBind",
                 bind(plain, 64, access_rights::kRemoteRead));
  expect_refused(errc::window_bind, "of another domain",
                 bind(foreign, 64, access_rights::kRemoteRead));
  expect_refused(errc::window_bind, "the peer is to write",
                 bind(readable, 64, access_rights::kRemoteWrite));
  expect_refused(errc::window_bind, "has no octets", bind(readable, 0, access_rights::kRemoteRead));
  expect_refused(errc::window_bind, "rights of the peer only",
                 bind(readable, 64, access_rights::kLocalWrite));
  expect_refused(errc::window_bind, "rights of the peer only",
                 bind(readable, 64, access_rights::kRemoteRead | access_rights::kZeroBased));
  memory_window stranger(server_domain);
  expect_refused(errc::window_bind, "window is of another domain", [&](auto handler) {
    client.async_bind(stranger, readable, 0, 64, access_rights::kRemoteRead,
                      [handler](error_code error, remote_buffer) mutable { handler(error); });
  });
}

TEST_F(AsioMisusedMemory, ABindingThatIsRefusedLeavesTheOneBefore) {
  connect_pair();
  memory_window window(client_domain);
  registered_buffer region(client_domain, 64, access_rights::kWindowBind);
  told<remote_buffer> bound, refused;
  client.async_bind(window, region, 0, 64, access_rights::kRemoteRead, bound.handler());
  client.async_bind(window, region, 0, 64, access_rights::kLocalWrite, refused.handler());
  ASSERT_TRUE(run_until([&] { return bound.times == 1 && refused.times == 1; }));
  EXPECT_EQ(refused.error, errc::window_bind);
  ASSERT_FALSE(bound.error);
  EXPECT_FALSE(end_of([&](auto handler) { client.async_invalidate(bound.result.stag, handler); }));
  EXPECT_TRUE(client.is_open());
}

}  // namespace
}  // namespace iwarp::asio::test
