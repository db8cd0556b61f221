#pragma once

namespace iwarp::rsocket {

/// A number that differs between a process and its forked children: what a child inherits of
/// rsockets it cannot use, as the connection stays the parent's.
[[nodiscard]] unsigned process_generation();

}  // namespace iwarp::rsocket
