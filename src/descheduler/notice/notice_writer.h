#pragma once
// Keeps the ConfigMap of notice.h as the last cycle says.
//
//   NoticeWriter notice(desk, "koordinator-system");
//   notice.tell(journal.refused());                      // after each cycle of who leads
//
// One request at a time; what could not be written is said once and tried again by the next cycle.
// Owner's thread.

#include <map>
#include <string>

#include "descheduler/desk.h"

namespace mangrove::descheduler {

class NoticeWriter {
 public:
  static constexpr Duration kEvery = std::chrono::seconds(30);

  NoticeWriter(Desk& desk, std::string ns) : desk_(desk), ns_(std::move(ns)) {}
  void tell(const std::map<std::string, std::string>& refused);

 private:
  void patch(const std::string& text);
  void create(const std::string& text);
  void answered(const std::string& text, const Result<client::Reply>& reply);

  Desk& desk_;
  std::string ns_;
  std::string written_;  // the data that the server has, as text
  bool busy_ = false, complained_ = false;
  MonoTime next_{};
};

}  // namespace mangrove::descheduler
