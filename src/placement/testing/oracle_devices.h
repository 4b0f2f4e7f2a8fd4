#pragma once
// The choice of cards written down as plainly as possible: everything is read anew from the Device
// object and the annotations of the pods for every question, by loops over all there is. Test code.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/annotations/device.h"
#include "api/koordinator/device.h"

namespace mangrove::placement::oracle {

// A pod's wish, told apart already.
struct CardsWanted {
  int gpus = 0;                 // 0: none
  int core = 100, ratio = 100;  // of each
  bool shared = false;
  int bytes = 0;  // Gi of each, instead of the ratio; 0: by ratio
  int scope = 0;  // 0 none, 2 NUMA node, 3 switch
  int nics = 0;   // 0: none; else so many
  int nicShare = 1;
  bool functions = false;  // a virtual function of each NIC
  bool joint = false, samePcie = false;
  bool own = false;  // no switch of the cards is in use by others
  std::optional<std::set<int>> numa;
  bool most = false;  // fuller cards first
};

// "gpu 0 1; rdma 1(0000:1f:00.2)", or "no".
std::string chooseCards(const api::Device& device, bool halves, bool honor,
                        const std::vector<api::DeviceAllocations>& held, const CardsWanted& wanted);

}  // namespace mangrove::placement::oracle
