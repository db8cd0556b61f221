#pragma once

/// Marks what the shared libraries export: the public classes and functions of the components that
/// are installed (docs/abi.md), and nothing of the layers below. Everything else is compiled with
/// hidden visibility. A class with virtual functions, or one that may be thrown, carries it too, so
/// that the library and the program agree on its typeinfo.
#define IWARP_API __attribute__((visibility("default")))
