#include <iwarp/verbs/verbs.hpp>

int main() { return iwarp::verbs::Device::open().has_value() ? 0 : 1; }
