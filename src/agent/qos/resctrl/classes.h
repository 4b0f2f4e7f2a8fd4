#pragma once
// Lines of resctrl's schemata for classes and for pods: which ways of the cache and how much
// bandwidth, for every cache of the machine. Pure functions, any thread.
//
//   CacheFacts facts{"fff", 1, {0, 1}, true, {0, 1}, "GenuineIntel"};
//   classLines(qos, facts).l3            // "0=f;1=f"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/qos/resctrl/schemata.h"
#include "api/annotations/qos.h"
#include "api/koordinator/resource_qos.h"
#include "api/pod/classes.h"

namespace mangrove::agent {

// What this machine's caches are.
struct CacheFacts {
  std::string fullMask;  // info/L3/cbm_mask; "": no cache allocation
  int64_t leastWays = 1;
  std::vector<int> cacheIds;      // of L3
  std::vector<int> bandwidthIds;  // of MB; empty: no bandwidth allocation
  std::string vendor;
  BandwidthSteps steps = {};
  bool codeAndData = false;  // the cache is divided for code and for data: a line for each
  // resctrl is mounted to take megabytes per second (mba_MBps): what a domain's memory can give, by
  // the Node's annotation; 0: nobody said, and bandwidth is left alone.
  std::optional<int64_t> megabytes = {};
};

// Empty: leave that line alone.
struct SchemataLines {
  std::string l3, mb;
  std::string trouble;  // a setting that makes no sense
};
// Percent of bandwidth, by cache: less than the configuration grants.
using BandwidthCaps = std::map<int, int64_t>;
SchemataLines classLines(const api::ResctrlQosConfig& qos, const CacheFacts& facts,
                         const BandwidthCaps& caps = {});
// The lowest ways of each cache's mask, so many; as it is when it has no more than that.
std::string lowestWays(const std::string& l3, int ways);
int waysOf(const CacheFacts& facts);  // of the whole cache; 0: no cache allocation
int waysIn(const std::string& l3);    // of a line's first cache
// A service's ranges beside best-effort work's instead of over them: the default lets services use
// all ways, those of best-effort work included. As it is when nothing would be left.
api::ResctrlQosConfig apartFrom(api::ResctrlQosConfig service, const api::ResctrlQosConfig& batch);
// Of a pod's annotation: one setting for all caches, or one per cache.
SchemataLines podLines(const api::ResctrlConfig& config, const CacheFacts& facts);

// The group of a class: "LSR", "LS", "BE"; "" is everybody's.
std::string_view resctrlClass(api::Qos qos);
std::string podGroup(std::string_view uid);  // "koordlet-<uid>"

}  // namespace mangrove::agent
