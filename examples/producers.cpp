// Producers write records into rings in a consumer's memory, each by an RDMA Write with immediate,
// which tells the consumer of it. The consumer has one thread, which sleeps at the sockets
// themselves, and one queue of receives for all producers.
//
//   producers server 7471
//   producers client 127.0.0.1 7471 1000000    writes so many records; start several, kill one
//   producers                                  both ends in this process; one producer gives up
//
// The end of a connection does not say that the work is done: that of a process which is killed
// between two records looks the same. So a producer's last message says how many records there
// were, and it ends when the consumer has answered that. The consumer is in producers.hpp.
#include "producers.hpp"

#include <chrono>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace iwarp::verbs;
using namespace std::chrono_literals;
using examples::consumer, examples::must, examples::record, examples::silent;
using examples::kLast, examples::kSendsOfProducer, examples::kSlots, examples::kToProducer;

namespace {

class producer {
 public:
  producer(Device& device, const Endpoint& consumer)
      : pd_(must(device.alloc_pd())),
        cq_(must(device.create_cq(kSendsOfProducer + kToProducer))),
        slots_(kSlots),
        region_(
            must(pd_.register_memory(std::as_writable_bytes(std::span(slots_)), Access::kNone))),
        qp_(must(pd_.create_qp(
            cq_, {.capacity = {.max_send_wr = kSendsOfProducer, .max_recv_wr = kToProducer}}))) {
    for (std::uint64_t each = 0; each < kToProducer; ++each)
      must(qp_.post_receive({.wr_id = each}));
    const ConnectionInfo info = must(qp_.connect(consumer));
    if (info.private_data.size() != sizeof ring_) throw std::runtime_error("not such a consumer");
    std::memcpy(&ring_, info.private_data.data(), sizeof ring_);
  }

  void write(std::uint64_t records) {
    for (const std::uint64_t end = written_ + records; written_ < end; ++written_) {
      while (written_ - consumed_ >= kSlots) hear();
      // What the consumer is done with has left the memory here.
      const std::uint64_t slot = written_ % kSlots;
      slots_[slot].fill(written_);
      const Sge what = region_.sge(slot * sizeof(record), sizeof(record));
      SendWr request = silent(Opcode::kWriteImmediate, written_);
      request.sges = {&what, 1};
      request.remote_stag = ring_.stag;
      request.remote_offset = ring_.offset + slot * sizeof(record);
      post(request);
    }
  }

  // When the consumer has them all.
  void finish() {
    post(silent(Opcode::kImmediate, kLast | written_));
    while (!finished_) hear();
    qp_.disconnect();
    if (!qp_.wait_disconnected(kPatience)) throw std::runtime_error("the consumer does not close");
  }

 private:
  static constexpr auto kPatience = 10s;

  void post(const SendWr& request) {
    if (const auto posted = qp_.post_send(request); !posted)
      throw std::runtime_error(posted.error().message() + ": " + qp_.diagnosis().to_string());
  }
  // Sleeps until slots come back.
  void hear() {
    const auto done = cq_.wait(kPatience);
    if (!done) throw std::runtime_error("the consumer returns no slots");
    if (done->status != Status::kSuccess) throw std::runtime_error(qp_.diagnosis().to_string());
    must(qp_.post_receive({.wr_id = done->wr_id}));
    consumed_ = done->immediate & ~kLast;
    finished_ = (done->immediate & kLast) != 0;
  }

  ProtectionDomain pd_;
  CompletionQueue cq_;
  std::vector<record> slots_;
  MemoryRegion region_;
  QueuePair qp_;
  RemoteBuffer ring_;
  std::uint64_t written_ = 0, consumed_ = 0;
  bool finished_ = false;
};

void produce(Device& device, const Endpoint& consumer, std::uint64_t records) {
  producer one(device, consumer);
  one.write(records);
  one.finish();
}

// Several producers, and one that goes in the middle without a word, as if it had been killed.
void run_both(Device& device, const Endpoint& at, std::uint64_t records) {
  constexpr std::uint64_t kProducers = 4;
  consumer all(device, at);
  std::vector<std::jthread> threads;
  for (std::uint64_t each = 0; each <= kProducers; ++each) {
    threads.emplace_back([&, gives_up = each == kProducers] {
      try {
        gives_up ? producer(device, all.endpoint()).write(records / 2)
                 : produce(device, all.endpoint(), records);
      } catch (const std::exception& error) {
        std::cerr << "a producer failed: " << error.what() << '\n';
        all.stop();
      }
    });
  }
  all.run(threads.size());
  if (all.complete() != kProducers || all.lost() != 1 || all.records() < kProducers * records)
    throw std::runtime_error("that is not what the producers have done");
}

void run(const examples::command_line& given) {
  constexpr std::uint64_t kRecords = 10'000;
  const std::uint64_t records = given.rest.empty() ? kRecords : examples::number_of(given.rest[0]);
  if (given.server) examples::block_interrupts();
  Device device = must(Device::open());
  if (given.both()) {
    run_both(device, examples::address_of(given), records);
  } else if (given.server) {
    consumer all(device, examples::address_of(given));
    std::cout << "listens at " << all.endpoint() << std::endl;
    all.run();
  } else {
    produce(device, examples::address_of(given), records);
    std::cout << records << " records have been consumed\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  return examples::run(
      argc, argv, "producers [server PORT | client ADDRESS PORT [RECORDS] | --self-test [RECORDS]]",
      run);
}
