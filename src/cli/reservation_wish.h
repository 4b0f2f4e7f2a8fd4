#pragma once
// The Reservation that `mangrove reserve` makes of its flags.
//
//   auto body = reservationOf({.cpu = "8", .duration = hours(2), .owners = {"app=x"}}, "abc", now);
//
// Pure functions, any thread.

#include <string>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"
#include "json/value.h"

namespace mangrove::cli {

struct ReservationWish {
  std::string name = "";  // made of `suffix`
  std::string cpu = "", memory = "";
  std::vector<std::string> resources = {};  // name=amount
  Duration duration = std::chrono::hours(1);
  std::vector<std::string> owners = {};  // label=value,…; a pod of any of them
  std::string start = "";     // a time, or how long from now; "": as soon as it has a place
  std::string priority = "";  // a number; "": it evicts nobody
  std::string policy = "Aligned";
  std::string node = "";
  std::string scheduler = "koord-scheduler";
  bool many = false;  // more than one owner
};

// The object to create; a mistake is named with what would be right.
Result<json::Value> reservationOf(const ReservationWish& wish, std::string_view suffix,
                                  WallTime now);

}  // namespace mangrove::cli
