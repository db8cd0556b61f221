#pragma once

#include <memory>
#include <utility>

#include "iwarp/base/bytes.hpp"
#include "iwarp/base/export.hpp"
#include "iwarp/verbs/provider.hpp"

/// Memory that requests and peers may name. Part of verbs.hpp, which says what goes for all
/// handles.
namespace iwarp::verbs {

class ProtectionDomain;

/// A registered memory region: the owner of its registration, not of its memory.
///
/// When it ends, by destruction or by a peer's invalidation, the memory windows that are bound to
/// it end, too: what peers still send to them is refused, and when the destruction returns no
/// access through them is under way. They stay closed whatever is registered later; one of type 2
/// is invalidated before it is bound again, as ever.
///
/// An STag that has ended is not handed out again soon (RFC 5042 §6.1.1): the device makes 2 * 10^9
/// others at least before the same value names another region, whatever is registered at a time. A
/// peer that has kept it then reaches that region only by a stream of the same protection domain,
/// with the rights that the region has; each try before that ends its stream.
class IWARP_API MemoryRegion {
 public:
  /// The first octet of the memory, which is the program's own.
  [[nodiscard]] std::byte* data() const { return memory_.data(); }
  /// Octets.
  [[nodiscard]] std::size_t size() const { return memory_.size(); }
  /// All of the memory.
  [[nodiscard]] MutableBytes bytes() const { return memory_; }
  /// The key for this side's own requests; never on the wire.
  [[nodiscard]] Stag lkey() const { return core_->lkey(); }
  /// The STag for the peer, whose rights the Access of the registration says.
  [[nodiscard]] Stag rkey() const { return core_->rkey(); }
  /// `length` octets from `offset` as a gather or scatter element. Precondition: inside the region.
  [[nodiscard]] Sge sge(std::size_t offset, std::uint32_t length) const {
    return {address(offset), length, lkey()};
  }
  /// All of it. Precondition: below 2^32 octets.
  [[nodiscard]] Sge sge() const { return sge(0, static_cast<std::uint32_t>(memory_.size())); }
  /// The same range as the peer names it: Tagged Offsets of this device are virtual addresses,
  /// those of a zero-based region count from its first octet.
  [[nodiscard]] RemoteBuffer remote(std::size_t offset, std::uint64_t length) const;
  /// All of it.
  [[nodiscard]] RemoteBuffer remote() const { return remote(0, memory_.size()); }
  /// A part of it for a memory window, see SendWr::bind. `window` is the STag to bind under.
  [[nodiscard]] BindWr bind_to(Stag window, std::size_t offset, std::uint64_t length,
                               Access access) const {
    return {window, lkey(), address(offset), length, access};
  }
  /// Registers `memory` in place of what was registered. The keys change, and what peers still send
  /// to the region is refused, unless it is the same memory with other rights or another PD: that
  /// keeps its keys. Nothing may be using the region. On failure the region stays as it was.
  /// Errors: as ProtectionDomain::register_memory(); EBUSY while a memory window is bound to the
  /// region.
  Outcome<void> reregister(const ProtectionDomain& pd, MutableBytes memory, Access access);

 private:
  friend class ProtectionDomain;
  MemoryRegion(std::shared_ptr<provider::Provider> owner, std::shared_ptr<provider::Mr> core,
               MutableBytes memory, Access access)
      : owner_(std::move(owner)), core_(std::move(core)), memory_(memory), access_(access) {}
  // What a Sge calls the address: an offset in a zero-based region.
  [[nodiscard]] void* address(std::size_t offset) const;

  std::shared_ptr<provider::Provider> owner_;
  std::shared_ptr<provider::Mr> core_;
  MutableBytes memory_;
  Access access_;
};

/// A registered region of memory that nothing writes to, neither this side nor a peer: for Sends,
/// for Writes, and for the peer's Reads. Otherwise as MemoryRegion; it keeps what it was registered
/// with. A request that would write there, such as a receive or a Read, completes with
/// Status::kLocalProtectionError.
class IWARP_API ConstMemoryRegion {
 public:
  /// The first octet of the memory, which is the program's own.
  [[nodiscard]] const std::byte* data() const { return region_.data(); }
  /// Octets.
  [[nodiscard]] std::size_t size() const { return region_.size(); }
  /// All of the memory.
  [[nodiscard]] ConstBytes bytes() const { return region_.bytes(); }
  /// The key for this side's own requests; never on the wire.
  [[nodiscard]] Stag lkey() const { return region_.lkey(); }
  /// The STag for the peer, if the SourceAccess of the registration lets it read.
  [[nodiscard]] Stag rkey() const { return region_.rkey(); }
  /// `length` octets from `offset` as a gather element. Precondition: inside the region.
  [[nodiscard]] Sge sge(std::size_t offset, std::uint32_t length) const {
    return region_.sge(offset, length);
  }
  /// All of it. Precondition: below 2^32 octets.
  [[nodiscard]] Sge sge() const { return region_.sge(); }
  /// The same range as the peer names it, as MemoryRegion::remote().
  [[nodiscard]] RemoteBuffer remote(std::size_t offset, std::uint64_t length) const {
    return region_.remote(offset, length);
  }
  /// All of it.
  [[nodiscard]] RemoteBuffer remote() const { return region_.remote(); }

 private:
  friend class ProtectionDomain;
  explicit ConstMemoryRegion(MemoryRegion region) : region_(std::move(region)) {}
  MemoryRegion region_;
};

/// A memory window: opens a part of a region to the peer without registering anything. Bound by
/// work requests (Opcode::kBindWindow), in the order of the send queue. It ends with its region,
/// and one of type 2 with the queue pair that it was bound by.
///
/// The STags of type 1 come back as late as those of regions. Of type 2 the device chooses the
/// upper 24 bits, which another window or fast region has after 2 * 10^6 others at the earliest;
/// the low octet is its owner's, which comes to the same one again after 256 bindings, or makes
/// another window.
class IWARP_API MemoryWindow {
 public:
  /// What it was made as.
  [[nodiscard]] WindowType type() const { return core_->type(); }
  /// Type 1: the STag it was bound under last. Type 2: the STag it was made with; the owner chooses
  /// another low octet for each binding.
  [[nodiscard]] Stag rkey() const { return core_->rkey(); }
  /// The STag to bind a window of type 1 under next: rkey() from now on. Those before it open
  /// nothing once the window is bound under it. 0, and rkey() stays, if no STag is free; nothing
  /// can be bound under that.
  Stag next_rkey() { return core_->next_rkey(); }

 private:
  friend class ProtectionDomain;
  explicit MemoryWindow(std::shared_ptr<provider::Mw> core) : core_(std::move(core)) {}
  std::shared_ptr<provider::Mw> core_;
};

/// Room for a registration that work requests make and end, in the order of the send queue
/// (Opcode::kRegister, Opcode::kInvalidate, or the peer's invalidation). Its STags are as those of
/// windows of type 2; windows that were bound to one registration are closed in the next.
class IWARP_API FastRegion {
 public:
  /// The STag it was made with; the owner chooses another low octet for each registration.
  [[nodiscard]] Stag stag() const { return core_->stag(); }

 private:
  friend class ProtectionDomain;
  explicit FastRegion(std::shared_ptr<provider::FastMr> core) : core_(std::move(core)) {}
  std::shared_ptr<provider::FastMr> core_;
};

}  // namespace iwarp::verbs
