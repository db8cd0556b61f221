#include "iwarp/asio/memory.hpp"

#include <new>
#include <utility>

#include "domain_core.hpp"
#include "iwarp/asio/memory_window.hpp"
#include "iwarp/base/bytes.hpp"
#include "throw_error.hpp"

namespace iwarp::asio {
namespace detail {

domain_core::domain_core(std::shared_ptr<device_core> of)
    : device_(std::move(of)), pd_(value_or_throw(device_->device().alloc_pd())) {}

std::optional<complaint> domain_core::complain(const const_local_buffer& buffer,
                                               verbs::Access needed,
                                               registrations::memo& last) const {
  if (buffer.size() == 0) return std::nullopt;
  if (const auto known = device_->known().find(buffer.lkey(), last)) {
    return complaint_of(buffer, *known, this, needed);
  }
  const verbs::Sge all{buffer.data(), static_cast<std::uint32_t>(buffer.size()), buffer.lkey()};
  const auto usable = pd_.check({&all, 1}, needed);
  if (usable) return std::nullopt;
  const std::string name = to_text(buffer);
  if (usable.error().code == std::errc::no_such_file_or_directory) {
    return complaint{errc::not_registered,
                     name + ": no memory is registered under that key, or no more"};
  }
  if (usable.error().code == std::errc::bad_address) {
    return complaint{errc::not_registered, name + ": not inside what is registered under that key"};
  }
  if (pd_.check({&all, 1}, verbs::Access::kNone)) {
    return complaint{errc::not_writable, name +
                                             ": registered without local write, or what else "
                                             "Reads need on this device (domain::read_sink())"};
  }
  return complaint{errc::not_registered,
                   name + ": registered in another domain than the connection's"};
}

std::optional<complaint> domain_core::complain(const verbs::BindWr& request,
                                               const void* window_domain,
                                               registrations::memo& last) const {
  if (window_domain != this) {
    return complaint{errc::window_bind, "the window is of another domain than the connection's"};
  }
  const auto known = device_->known().find(request.region, last);
  return known ? complaint_of(request, *known, this) : std::nullopt;
}

}  // namespace detail

// ---- Domains ----

domain::domain(device& of) : core_(std::make_shared<detail::domain_core>(of.core_)) {}
domain::~domain() = default;
domain::domain(domain&&) noexcept = default;
domain& domain::operator=(domain&&) noexcept = default;
any_io_executor domain::get_executor() const { return core_->device()->executor(); }
access_rights domain::read_sink() const { return core_->pd().read_sink(); }
verbs::ProtectionDomain& domain::native_handle() { return core_->pd(); }

// ---- Registered memory ----

class registered_memory::registration {
 public:
  registration(std::shared_ptr<detail::domain_core> in, MutableBytes memory, access_rights rights)
      : domain_(std::move(in)),
        region_(detail::value_or_throw(domain_->pd().register_memory(memory, checked(rights)))) {
    domain_->device()->known().add(region_.lkey(),
                                   {domain_.get(), memory.data(), memory.size(), rights});
  }
  ~registration() {
    detail::device_core& device = *domain_->device();
    if (!device.inherited()) device.known().remove(region_.lkey());
  }
  registration(const registration&) = delete;
  registration& operator=(const registration&) = delete;

  [[nodiscard]] const verbs::MemoryRegion& region() const { return region_; }

 private:
  // Buffers here are named by their address, and offsets by part().
  static access_rights checked(access_rights rights) {
    if (has(rights, access_rights::kZeroBased)) {
      throw boost::system::system_error(
          make_error_code(errc::invalid_request),
          "registered memory: access_rights::kZeroBased has no use here; see part() and remote()");
    }
    return rights;
  }

  std::shared_ptr<detail::domain_core> domain_;
  verbs::MemoryRegion region_;
};

registered_memory::registered_memory(domain& in, boost::asio::mutable_buffer memory,
                                     access_rights rights)
    : registration_(std::make_unique<registration>(
          in.core_, MutableBytes(static_cast<std::byte*>(memory.data()), memory.size()), rights)) {}
registered_memory::~registered_memory() = default;
registered_memory::registered_memory(registered_memory&&) noexcept = default;
registered_memory& registered_memory::operator=(registered_memory&&) noexcept = default;

std::byte* registered_memory::data() const { return registration_->region().data(); }
std::size_t registered_memory::size() const { return registration_->region().size(); }

registered_memory::operator local_buffer() const {
  return {data(), size(), registration_->region().lkey()};
}

remote_buffer registered_memory::remote(std::size_t offset, std::size_t size) const {
  const verbs::RemoteBuffer whole = registration_->region().remote();
  return remote_buffer{whole.stag, whole.offset, whole.length}.part(offset, size);
}

// With these rights neither side of a connection writes to it, and nothing here does.
registered_const_memory::registered_const_memory(domain& in, boost::asio::const_buffer memory,
                                                 source_rights rights)
    : memory_(in, boost::asio::mutable_buffer(const_cast<void*>(memory.data()), memory.size()),
              static_cast<access_rights>(rights)) {}

// ---- Memory of our own ----

namespace detail {

page_memory::page_memory(std::size_t size)
    : size_(size), data_(static_cast<std::byte*>(::operator new (size, std::align_val_t{kPage}))) {
  std::memset(data_, 0, size);
}

page_memory::~page_memory() { ::operator delete (data_, std::align_val_t{kPage}); }

page_memory::page_memory(page_memory&& other) noexcept
    : size_(std::exchange(other.size_, 0)), data_(std::exchange(other.data_, nullptr)) {}

page_memory& page_memory::operator=(page_memory&& other) noexcept {
  page_memory taken(std::move(other));
  std::swap(size_, taken.size_);
  std::swap(data_, taken.data_);
  return *this;
}

}  // namespace detail

registered_buffer::registered_buffer(domain& in, std::size_t size, access_rights rights)
    : detail::page_memory(size),
      registered_memory(in, boost::asio::mutable_buffer(memory(), size), rights) {}

// ---- Windows ----

memory_window::memory_window(domain& in)
    : domain_(in.core_),
      window_(detail::value_or_throw(domain_->pd().alloc_window(verbs::WindowType::k2))),
      stag_(window_.rkey()) {}
memory_window::~memory_window() = default;
memory_window::memory_window(memory_window&&) noexcept = default;
memory_window& memory_window::operator=(memory_window&&) noexcept = default;

// The owner of a window chooses its key, the low octet (RFC 5040 §5.1): another one each time.
detail::binding memory_window::next_binding(const registered_memory& region, std::size_t offset,
                                            std::size_t size, access_rights rights) {
  const std::uint32_t index = stag_.value() & ~0xFFU;
  stag_ = Stag{index | ((stag_.value() + 1U) & 0xFFU)};
  const local_buffer part = region.part(offset, size);
  const remote_buffer known = region.remote(offset, size);
  return {domain_.get(),
          {stag_, part.lkey(), part.data(), part.size(), rights},
          {stag_, known.offset, known.length}};
}

// ---- Remote buffers ----

std::array<std::byte, remote_buffer::wire_size> remote_buffer::to_bytes() const {
  std::array<std::byte, wire_size> bytes;
  store_be(bytes.data(), offset);
  store_be(bytes.data() + 8, stag.value());
  store_be(bytes.data() + 12, length);
  return bytes;
}

remote_buffer remote_buffer::from_bytes(std::span<const std::byte, wire_size> bytes) {
  return {Stag{load_be<std::uint32_t>(bytes.data() + 8)}, load_be<std::uint64_t>(bytes.data()),
          load_be<std::uint64_t>(bytes.data() + 12)};
}

}  // namespace iwarp::asio
