// Names and rates: tables, in the order of the interface's numbers.
#include <infiniband/verbs.h>

#include <array>
#include <cstddef>

namespace {

template <std::size_t kSize>
const char* name_in(const std::array<const char*, kSize>& names, int number, const char* other) {
  const auto index = static_cast<std::size_t>(number);
  return number >= 0 && index < kSize && names[index] != nullptr ? names[index] : other;
}

struct Rate {
  ibv_rate rate;
  int multiple;  // of 2.5 Gbit/s
  int mbps;
};

constexpr std::array<Rate, 22> kRates{
    {{IBV_RATE_2_5_GBPS, 1, 2500},     {IBV_RATE_5_GBPS, 2, 5000},
     {IBV_RATE_10_GBPS, 4, 10000},     {IBV_RATE_14_GBPS, 6, 14062},
     {IBV_RATE_20_GBPS, 8, 20000},     {IBV_RATE_25_GBPS, 10, 25781},
     {IBV_RATE_28_GBPS, 11, 28125},    {IBV_RATE_30_GBPS, 12, 30000},
     {IBV_RATE_40_GBPS, 16, 40000},    {IBV_RATE_50_GBPS, 20, 53125},
     {IBV_RATE_56_GBPS, 22, 56250},    {IBV_RATE_60_GBPS, 24, 60000},
     {IBV_RATE_80_GBPS, 32, 80000},    {IBV_RATE_100_GBPS, 40, 103125},
     {IBV_RATE_112_GBPS, 45, 112500},  {IBV_RATE_120_GBPS, 48, 120000},
     {IBV_RATE_168_GBPS, 67, 168750},  {IBV_RATE_200_GBPS, 80, 206250},
     {IBV_RATE_300_GBPS, 120, 309375}, {IBV_RATE_400_GBPS, 160, 425000},
     {IBV_RATE_600_GBPS, 240, 637500}, {IBV_RATE_800_GBPS, 320, 850000}}};

ibv_rate rate_with(int Rate::*figure, int value) {
  for (const Rate& each : kRates) {
    if (each.*figure == value) return each.rate;
  }
  return IBV_RATE_MAX;
}

int figure_of(ibv_rate rate, int Rate::*figure) {
  for (const Rate& each : kRates) {
    if (each.rate == rate) return each.*figure;
  }
  return -1;
}

}  // namespace

const char* ibv_wc_status_str(ibv_wc_status status) {
  static constexpr std::array<const char*, 24> kNames{"success",
                                                      "local length error",
                                                      "local QP operation error",
                                                      "local EE context operation error",
                                                      "local protection error",
                                                      "Work Request Flushed Error",
                                                      "memory management operation error",
                                                      "bad response error",
                                                      "local access error",
                                                      "remote invalid request error",
                                                      "remote access error",
                                                      "remote operation error",
                                                      "transport retry counter exceeded",
                                                      "RNR retry counter exceeded",
                                                      "local RDD violation error",
                                                      "remote invalid RD request",
                                                      "aborted error",
                                                      "invalid EE context number",
                                                      "invalid EE context state",
                                                      "fatal error",
                                                      "response timeout error",
                                                      "general error",
                                                      "TM error",
                                                      "TM software rendezvous"};
  return name_in(kNames, status, "unknown");
}

const char* ibv_node_type_str(ibv_node_type type) {
  static constexpr std::array<const char*, 8> kNames{nullptr,
                                                     "InfiniBand channel adapter",
                                                     "InfiniBand switch",
                                                     "InfiniBand router",
                                                     "iWARP NIC",
                                                     "usNIC",
                                                     "usNIC UDP",
                                                     "unspecified"};
  return name_in(kNames, type, "unknown");
}

const char* ibv_port_state_str(ibv_port_state state) {
  static constexpr std::array<const char*, 6> kNames{
      "no state change (NOP)", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  return name_in(kNames, state, "invalid state");
}

const char* ibv_event_type_str(ibv_event_type type) {
  static constexpr std::array<const char*, 20> kNames{"CQ error",
                                                      "local work queue catastrophic error",
                                                      "invalid request local work queue error",
                                                      "local access violation work queue error",
                                                      "communication established",
                                                      "send queue drained",
                                                      "path migrated",
                                                      "path migration request error",
                                                      "local catastrophic error",
                                                      "port active",
                                                      "port error",
                                                      "LID change",
                                                      "P_Key change",
                                                      "SM change",
                                                      "SRQ catastrophic error",
                                                      "SRQ limit reached",
                                                      "last WQE reached",
                                                      "client reregistration",
                                                      "GID table change",
                                                      "WQ fatal"};
  return name_in(kNames, type, "unknown");
}

int ibv_rate_to_mult(ibv_rate rate) { return figure_of(rate, &Rate::multiple); }
ibv_rate mult_to_ibv_rate(int multiple) { return rate_with(&Rate::multiple, multiple); }
int ibv_rate_to_mbps(ibv_rate rate) { return figure_of(rate, &Rate::mbps); }
ibv_rate mbps_to_ibv_rate(int mbps) { return rate_with(&Rate::mbps, mbps); }
