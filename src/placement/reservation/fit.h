#pragma once
// Whether a pod fits on a node that holds reservations for it.
//
//   FitVerdict verdict = fitReserved(node, matched, {requests, mustReserve, onlyName});
//   if (verdict.pass) …  verdict.usable …  else verdict.reasons
//
// The node's books count every reservation as a pod and its owners beside it, so both are given
// back here: what owners hold within it, of every matched reservation, and what remains, of the one
// that is tried. The pod fits by a reservation when
//
//   request ≤ allocatable − (requested − remaining − Σ min(allocated, reserved) − preemptible)
//
// and, in a Restricted one, also what it reserves suffices by itself. cpu, memory and ephemeral
// storage are compared even where the pod asks for none: a node that is over-committed there takes
// nobody. A pod that need not use a reservation may fit on what is free without any.
//
// Worked: 32 cpus, 30 requested of which 6 are an Aligned reservation: a pod of 8 fits by it
// (8 ≤ 32 − (30 − 6)). With 32 requested it does not.
//
// Pure functions, any thread.

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "placement/quota/amounts.h"
#include "placement/reservation/room.h"

namespace mangrove::placement {

struct NodeRoom {
  Amounts allocatable;
  Amounts requested;    // by all pods, those that stand for reservations and owners included
  Amounts preemptible;  // of requested, what a trial of preemption has taken away
  int64_t pods = 0;     // those that stand for reservations included
  int64_t allowedPods = std::numeric_limits<int64_t>::max();
  std::vector<Interned> ignored;  // names that are somebody else's business
};

struct FitAsk {
  Amounts request;
  bool mustReserve = false;   // the pod has a reservation-affinity
  std::string_view onlyName;  // of that affinity; "": any that matches
};

struct FitVerdict {
  bool pass = false;
  std::vector<size_t> usable;        // of the matched ones; empty though it passes: the node alone
  std::vector<std::string> reasons;  // when refused, sorted
};

FitVerdict fitReserved(const NodeRoom& node, std::span<const ReservedRoom> matched,
                       const FitAsk& ask);

// "Insufficient cpu by node" for every name that is short when `given` counts as free.
std::vector<std::string> shortOnNode(const NodeRoom& node, const Amounts& request,
                                     const Amounts& given);
// "Reservation(s) Insufficient cpu" for every name of a Restricted reservation that is short, with
// the amounts when asked for; nothing for other policies.
std::vector<std::string> shortInside(const ReservedRoom& room, const Amounts& request,
                                     bool withAmounts = false);

}  // namespace mangrove::placement
