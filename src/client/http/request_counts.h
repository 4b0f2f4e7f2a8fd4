#pragma once
// What a client remembers of its requests: how many, how they were answered, and which warnings the
// server has given. A warning is logged once per text. Any thread.
//
//   RequestCounts counts;
//   counts.show(registry);          // once, before the first request
//   counts.sent(isRetry);
//   counts.answered("get", 200);    // 0: no answer came

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/metrics.h"
#include "client/http/http_api_client.h"
#include "net/http/http.h"

namespace mangrove::client {

class RequestCounts {
 public:
  void show(Registry& metrics);

  void sent(bool retry);
  // `verb` is a literal: its address outlives us.
  void answered(const char* verb, int status);
  void heard(const net::Headers& headers, const std::string& server);

  HttpApiStats stats() const;

 private:
  bool isNews(const std::string& warning);

  mutable std::mutex mutex_;
  HttpApiStats stats_;
  std::unordered_set<std::string> warned_;
  CounterFamily* requests_ = nullptr;
  std::map<std::pair<std::string_view, int>, Counter> byAnswer_;  // verb and status of the former
  Counter retries_;
};

}  // namespace mangrove::client
