#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

/// What a device says of itself: its limits are those of the stack, its port is the interface.
namespace iwarp::compat {

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes,
               std::size_t size);
int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input,
                    ibv_device_attr_ex* attributes, std::size_t size);

}  // namespace iwarp::compat
