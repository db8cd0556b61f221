#include "lawful/ids.hpp"

// rdma_bind_addr(3), rdma_resolve_addr(3), rdma_set_option(3): which address, port and device an id
// has.
namespace iwarp::lawful {
namespace {

// The kernel's cma_any_addr() is true of the wildcard and of loopback addresses: rdma_bind_addr()
// takes no device then. libfabric leaves all devices out but the one that "localhost" names.
TEST(Bound, ToLoopbackOrTheWildcardAnIdHasNoDevice) {
  for (const char* text : {"127.0.0.1", "127.0.0.2", "0.0.0.0", "::1", "::"}) {
    SCOPED_TRACE(text);
    const Id id;
    SocketAddress at = address(text);
    ASSERT_EQ(rdma_bind_addr(id.get(), at.plain()), 0) << std::strerror(errno);
    EXPECT_EQ(id->verbs, nullptr);
    EXPECT_EQ(id->pd, nullptr);
    EXPECT_NE(rdma_get_src_port(id.get()), 0);
  }
}

TEST(Bound, ToLoopbackAnIdHasTheDeviceBehindItsPeerWhenThatIsResolved) {
  const Id id;
  SocketAddress at = address("127.0.0.1");
  ASSERT_EQ(rdma_bind_addr(id.get(), at.plain()), 0);
  const __be16 port = rdma_get_src_port(id.get());
  SocketAddress to = address("127.0.0.1", 9);
  ASSERT_EQ(rdma_resolve_addr(id.get(), nullptr, to.plain(), 2000), 0);
  EXPECT_NE(id->verbs, nullptr);
  EXPECT_NE(id->pd, nullptr);
  EXPECT_EQ(rdma_get_src_port(id.get()), port);
}

}  // namespace
}  // namespace iwarp::lawful
