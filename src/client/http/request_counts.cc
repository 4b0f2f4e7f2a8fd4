#include "client/http/request_counts.h"

#include "base/os/log.h"
#include "base/text/strings.h"
#include "client/http/http_request.h"

namespace mangrove::client {

namespace {

const Logger log("client");

constexpr size_t kMaxWarnings = 1000;  // distinct texts remembered; beyond, they are logged again

}  // namespace

void RequestCounts::show(Registry& metrics) {
  requests_ = &metrics.counters("mangrove_client_requests_total",
                                "Requests sent to the API server.", {"verb", "code"});
  retries_ =
      metrics.counter("mangrove_client_retries_total", "Requests sent again after a failure.");
}

HttpApiStats RequestCounts::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

void RequestCounts::sent(bool retry) {
  std::lock_guard lock(mutex_);
  ++stats_.requests;
  if (!retry) return;
  ++stats_.retries;
  retries_.inc();
}

void RequestCounts::answered(const char* verb, int status) {
  if (requests_ == nullptr) return;
  std::lock_guard lock(mutex_);
  const auto [at, isNew] = byAnswer_.try_emplace({verb, status});
  if (isNew) at->second = requests_->with({verb, status == 0 ? "error" : std::to_string(status)});
  at->second.inc();
}

bool RequestCounts::isNews(const std::string& warning) {
  std::lock_guard lock(mutex_);
  ++stats_.warnings;
  if (warned_.size() >= kMaxWarnings) warned_.clear();
  return !warning.empty() && warned_.insert(warning).second;
}

void RequestCounts::heard(const net::Headers& headers, const std::string& server) {
  for (const auto& [name, value] : headers.fields()) {
    if (!equalIgnoringCase(name, "Warning")) continue;
    const std::string text = warningText(value);
    if (isNews(text)) log.warn("{} says: {}", server, text);
  }
}

}  // namespace mangrove::client
