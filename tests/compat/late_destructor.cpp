// A library that does not need libibverbs and is loaded behind it: its destructors run last.
extern "C" {
void (*act_at_the_end)() = nullptr;
}

namespace {

__attribute__((destructor)) void end() {
  if (act_at_the_end != nullptr) act_at_the_end();
}

}  // namespace
