#include "core/query.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <fstream>

#include "core/context.hpp"
#include "core/errors.hpp"
#include "exports.hpp"
#include "shared/stack.hpp"

namespace iwarp::compat {
namespace {

constexpr std::uint8_t kPort = 1;
constexpr int kLinkUp = 5;  // physical state, as InfiniBand numbers it
constexpr std::uint32_t kMaxMessage = 1U << 31U;
// An OUI that no vendor has, as its bit for local administration is set; 0 is a vendor's.
constexpr std::uint32_t kVendor = 0x026977;

int as_int(std::uint64_t value) {
  return static_cast<int>(std::min<std::uint64_t>(value, INT_MAX));
}

// The verbs know five sizes; an interface has at least the smallest.
ibv_mtu mtu_of(unsigned octets) {
  if (octets >= 4096) return IBV_MTU_4096;
  if (octets >= 2048) return IBV_MTU_2048;
  if (octets >= 1024) return IBV_MTU_1024;
  return octets >= 512 ? IBV_MTU_512 : IBV_MTU_256;
}

// Speed and width as programs multiply them, for the next lower of what InfiniBand can name; 10
// Gbit/s if the interface does not say.
void fill_speed(const std::string& interface, ibv_port_attr& to) {
  struct Rate {
    long mbps;
    std::uint8_t width, speed;
  };
  constexpr std::array<Rate, 6> kRates{
      {{100000, 2, 32}, {50000, 1, 64}, {40000, 2, 4}, {25000, 1, 32}, {10000, 1, 4}, {0, 1, 1}}};
  long mbps = 10000;
  std::ifstream file("/sys/class/net/" + interface + "/speed");
  if (long said = 0; file >> said && said > 0) mbps = said;
  const auto rate = std::find_if(kRates.begin(), kRates.end(),
                                 [mbps](const Rate& each) { return each.mbps <= mbps; });
  to.active_width = rate->width;
  to.active_speed = rate->speed;
}

int fill_port(ibv_context* context, std::uint8_t port, ibv_port_attr& to) {
  if (port != kPort) return EINVAL;
  const Interface interface = context_of(context).device().interface();
  to = {};
  const bool up = !interface.addresses.empty();
  to.state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  to.max_mtu = IBV_MTU_4096;
  to.active_mtu = mtu_of(interface.mtu);
  to.gid_tbl_len = static_cast<int>(interface.addresses.size());
  to.port_cap_flags = IBV_PORT_CM_SUP;
  to.max_msg_sz = kMaxMessage;
  to.pkey_tbl_len = 1;
  to.max_vl_num = 1;
  to.phys_state = up ? kLinkUp : 3;
  to.link_layer = IBV_LINK_LAYER_ETHERNET;
  fill_speed(interface.name, to);
  return 0;
}

void fill_device(ibv_context* shown, ibv_device_attr& to) {
  Context& context = context_of(shown);
  const verbs::DeviceAttributes& has = context.provider->attributes();
  to = {};
  std::strncpy(to.fw_ver, "1.0", sizeof to.fw_ver - 1);
  to.node_guid = to.sys_image_guid = guid_of(context.device().interface());
  to.vendor_id = kVendor;
  to.max_mr_size = has.max_mr_size;
  to.page_size_cap = 0xFFFFF000;
  to.max_qp = as_int(has.max_qp);
  to.max_qp_wr = as_int(has.max_qp_wr);
  to.device_cap_flags =
      IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_MEM_MGT_EXTENSIONS;
  to.max_sge = to.max_sge_rd = as_int(has.max_sge);
  to.max_cq = as_int(has.max_cq);
  to.max_cqe = as_int(has.max_cqe);
  to.max_mr = as_int(has.max_mr);
  to.max_pd = as_int(has.max_pd);
  to.max_qp_rd_atom = as_int(has.max_ird);
  to.max_res_rd_atom = as_int(std::uint64_t{has.max_ird} * has.max_qp);
  to.max_qp_init_rd_atom = as_int(has.max_ord);
  to.atomic_cap = has.rfc7306 ? IBV_ATOMIC_GLOB : IBV_ATOMIC_NONE;
  to.max_mw = as_int(has.max_mw);
  to.max_srq = as_int(has.max_srq);
  to.max_srq_wr = as_int(has.max_srq_wr);
  to.max_srq_sge = as_int(has.max_sge);
  to.max_pkeys = 1;
  to.phys_port_cnt = kPort;
}

std::optional<ibv_gid_entry> gid_entry(ibv_context* context, std::uint32_t port,
                                       std::uint32_t index) {
  const Interface interface = context_of(context).device().interface();
  if (port != kPort || index >= interface.addresses.size()) return std::nullopt;
  ibv_gid_entry entry{};
  entry.gid = gid_of(interface.addresses[index]);
  entry.gid_index = index;
  entry.port_num = port;
  entry.gid_type = IBV_GID_TYPE_ROCE_V2;  // GIDs are IP addresses
  entry.ndev_ifindex = interface.index;
  return entry;
}

}  // namespace

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes,
               std::size_t size) {
  return guarded_errno([&] {
    ibv_port_attr all{};
    if (const int error = fill_port(context, port, all)) return error;
    std::memcpy(attributes, &all, std::min(size, sizeof all));
    return 0;
  });
}

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input,
                    ibv_device_attr_ex* attributes, std::size_t size) {
  if (input != nullptr && input->comp_mask != 0) return EINVAL;
  if (size < sizeof attributes->orig_attr) return EINVAL;
  return guarded_errno([&] {
    ibv_device_attr_ex all{};
    fill_device(context, all.orig_attr);
    all.odp_caps.general_caps = IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT;
    all.odp_caps.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |
                                                  IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
                                                  IBV_ODP_SUPPORT_ATOMIC | IBV_ODP_SUPPORT_SRQ_RECV;
    all.phys_port_cnt_ex = kPort;
    all.device_cap_flags_ex = all.orig_attr.device_cap_flags;
    std::memcpy(attributes, &all, std::min(size, sizeof all));
    return 0;
  });
}

}  // namespace iwarp::compat

using namespace iwarp::compat;

int ibv_query_device(ibv_context* context, ibv_device_attr* attributes) {
  return guarded_errno([&] {
    fill_device(context, *attributes);
    return 0;
  });
}

// Called by programs from before `flags`: what is shown ends in front of it.
int ibv_query_port(ibv_context* context, std::uint8_t port, _compat_ibv_port_attr* attributes) {
  return query_port(context, port, reinterpret_cast<ibv_port_attr*>(attributes),
                    offsetof(ibv_port_attr, flags));
}

int ibv_query_gid(ibv_context* context, std::uint8_t port, int index, ibv_gid* gid) {
  return guarded(
      [&] {
        const auto entry =
            index < 0 ? std::nullopt : gid_entry(context, port, static_cast<std::uint32_t>(index));
        if (!entry) return fail_minus(EINVAL);
        *gid = entry->gid;
        return 0;
      },
      fail_minus);
}

int _ibv_query_gid_ex(ibv_context* context, std::uint32_t port, std::uint32_t index,
                      ibv_gid_entry* to, std::uint32_t flags, std::size_t size) {
  if (flags != 0) return EINVAL;
  return guarded_errno([&] {
    const auto entry = gid_entry(context, port, index);
    if (!entry) return EINVAL;
    std::memcpy(to, &*entry, std::min(size, sizeof *entry));
    return 0;
  });
}

// A private function that ibv_devinfo needs to show the GIDs. It knows two types: 1 is what
// ibv_query_gid_ex() calls IBV_GID_TYPE_ROCE_V2.
extern "C" int iwarp_query_gid_type(ibv_context* context, std::uint8_t port, unsigned index,
                                    int* type) {
  return guarded(
      [&] {
        if (!gid_entry(context, port, index)) return fail_minus(EINVAL);
        *type = 1;
        return 0;
      },
      fail_minus);
}
__asm__(".symver iwarp_query_gid_type, ibv_query_gid_type@@IBVERBS_PRIVATE_34");

// Part of a table is of no use: as in the kernel, room for less than all of it is a mistake.
ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries, std::size_t most,
                             std::uint32_t flags, std::size_t size) {
  if (flags != 0) return -EINVAL;
  return guarded(
      [&]() -> ssize_t {
        if (most == 0) return -EINVAL;
        std::size_t count = 0;
        while (const auto entry = gid_entry(context, kPort, static_cast<std::uint32_t>(count))) {
          if (count == most) return -EINVAL;
          std::memcpy(reinterpret_cast<std::byte*>(entries) + count * size, &*entry,
                      std::min(size, sizeof *entry));
          ++count;
        }
        return static_cast<ssize_t>(count);
      },
      [](int error) -> ssize_t { return -error; });
}

// There is one partition, the default one.
int ibv_query_pkey(ibv_context*, std::uint8_t port, int index, __be16* pkey) {
  if (port != kPort || index != 0) return fail_minus(EINVAL);
  *pkey = 0xFFFF;
  return 0;
}

int ibv_get_pkey_index(ibv_context*, std::uint8_t port, __be16 pkey) {
  return port == kPort && pkey == 0xFFFF ? 0 : fail_minus(EINVAL);
}
