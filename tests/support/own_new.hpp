#pragma once

/// A program that is linked with own_new.cpp has an operator new of its own, for the whole process.
namespace iwarp::test {

/// Whether the calling thread's allocation is to succeed; without, it throws std::bad_alloc.
using Admits = bool (*)();

/// From now on `admits` is asked for each operator new.
void ask_at_each_new(Admits admits);

}  // namespace iwarp::test
