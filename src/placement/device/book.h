#pragma once
// The devices of one node and who holds what of each: pods, and reservations that keep cards for
// pods to come.
//
//   DeviceBook book;
//   book.report(device, nodeLabels);              // Device object: new, changed, null when gone
//   book.hold(podUid, heldOf(allocations));       // counts until release()
//   allocateDevices(book.devices(), wish, terms)
//
// What is held outlives reports: a card that is no longer reported, or whose Device object is gone,
// is not given out twice when it comes back.
//
// Reservations hold under their own uid. While a pod that may use one is looked at, lend() counts
// the rest of it as free and takeBack() ends that; a pod that takes from it says so when it holds
// (`lender`), so that the card is counted once:
//
//   book.hold(reservationUid, heldOf(its device-allocated));
//   book.lend(reservationUid);  …  book.takeBack(reservationUid);
//   book.hold(podUid, got, reservationUid);       // the reservation keeps what is left of its own
//
// Owner thread only; const access from any thread while nobody writes.

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/wire/text.h"
#include "placement/device/cards.h"

namespace mangrove::placement {

// A part of one card.
struct HeldCard {
  std::string type;
  int32_t minor = 0;
  Amounts amounts;
  std::vector<std::string> functions;  // bus ids of virtual functions
  bool operator==(const HeldCard&) const = default;
};
using HeldDevices = std::vector<HeldCard>;
HeldDevices heldOf(const api::DeviceAllocations& allocations);
// What stays of `all` when `spent` of it is used, card by card, never below zero.
HeldDevices remainder(HeldDevices all, const HeldDevices& spent);
// The node as a holder of these cards sees it: no other cards, and no more of each than this.
// `capped` false: those cards as they are.
NodeDevices onlyOf(const NodeDevices& node, const HeldDevices& cards, bool capped);

// A card that more is given away of than it has.
struct DeviceQuarrel {
  std::string type;
  int32_t minor = 0;
  std::string over;  // the resource, or the bus id of a function
  std::vector<api::Uid> holders;
  bool operator==(const DeviceQuarrel&) const = default;
};

class DeviceBook {
 public:
  // Null: the object is gone, and nothing can be had of its cards until it is back. A partition
  // table that cannot be read leaves what was known before, and is the error.
  Result<> report(const api::Device* device, const api::Labels& node);
  bool isReported() const { return reported_; }  // now or once
  const NodeDevices& devices() const { return devices_; }

  void hold(const api::Uid& holder, HeldDevices devices, const api::Uid& lender = {});
  void release(const api::Uid& holder);
  // Out of the books, but not forgotten: trials.
  void suspend(const api::Uid& holder);
  void resume(const api::Uid& holder);
  void lend(const api::Uid& holder) { suspend(holder); }
  void takeBack(const api::Uid& holder) { resume(holder); }

  bool empty() const { return holdings_.empty() && !reported_; }
  const HeldDevices* find(const api::Uid& holder) const;
  bool isSuspended(const api::Uid& holder) const;
  // What a lender has left for others.
  HeldDevices left(const api::Uid& lender) const;
  std::vector<api::Uid> holdersOf(std::string_view type, int32_t minor) const;  // by uid
  std::vector<DeviceQuarrel> quarrels() const;

  struct Holding {
    HeldDevices devices;
    api::Uid lender;     // empty: nobody
    HeldDevices booked;  // what counts of it at the moment
    bool suspended = false;
  };
  const std::unordered_map<api::Uid, Holding>& holdings() const { return holdings_; }

 private:
  void book(const HeldDevices& devices, int sign);
  // Counts what must count of a holding now, and of its lender.
  void settle(const api::Uid& holder);
  void settleOne(const api::Uid& holder);

  NodeDevices devices_;
  bool reported_ = false;
  std::unordered_map<api::Uid, Holding> holdings_;
};

}  // namespace mangrove::placement
