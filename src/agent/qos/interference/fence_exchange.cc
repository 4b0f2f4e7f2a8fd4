#include "agent/qos/interference/fence_exchange.h"

#include "api/interference/fences.h"
#include "api/wire/decode.h"
#include "base/os/log.h"
#include "json/value.h"

namespace mangrove::agent {
namespace {

const Logger log("interference");

client::Ref refTo(std::string name) {
  return {api::kind::kInterferenceFences, "", std::move(name), ""};
}

}  // namespace

// The first round waits until there is something to ask for.
void FenceExchange::follow(MonoTime now) {
  if (underWay_ || board_->workloads.empty()) return;
  if (next_ != MonoTime::min() && now < next_) return;
  next_ = now + kEvery;
  underWay_ = true;
  toAsk_.assign(board_->workloads.begin(), board_->workloads.end());
  pooled_ = {};
  if (board_->ownBook.empty())
    askNext();
  else
    tell();
}

void FenceExchange::tell() {
  const api::InterferenceFencesSpec spec{.node = node_, .book = board_->ownBook};
  const json::Object body{{"spec", toJson(spec)}};
  client_.submit(owner_,
                 client::patchRequest(refTo(api::nodeFencesName(node_)), client::PatchType::kMerge,
                                      json::write(body)),
                 life_.guard([this](const Result<client::Reply>& reply) {
                   if (reply) return askNext();
                   if (reply.error().code() == Code::kNotFound) return create();
                   failed(reply.error());
                 }));
}

void FenceExchange::create() {
  const api::InterferenceFencesSpec spec{.node = node_, .book = board_->ownBook};
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.ref = refTo("");  // its name is in its body
  request.body = json::write(json::Object{{"apiVersion", "colocation.mangrove.io/v1alpha1"},
                                          {"kind", "InterferenceFences"},
                                          {"metadata", {{"name", api::nodeFencesName(node_)}}},
                                          {"spec", toJson(spec)}});
  client_.submit(owner_, std::move(request),
                 life_.guard([this](const Result<client::Reply>& reply) {
                   if (!reply) return failed(reply.error());
                   askNext();
                 }));
}

void FenceExchange::askNext() {
  if (toAsk_.empty()) {
    board_->pooled = std::move(pooled_);
    underWay_ = false;
    said_.clear();
    return;
  }
  const std::string workload = std::move(toAsk_.back());
  toAsk_.pop_back();
  client::Request request;
  request.verb = client::Verb::kGet;
  request.ref = refTo(api::workloadFencesName(workload));
  client_.submit(owner_, std::move(request),
                 life_.guard([this, workload](const Result<client::Reply>& reply) {
                   heard(workload, reply);
                 }));
}

// Nobody has told of this workload yet: nothing is known but what we saw.
void FenceExchange::heard(const std::string& workload, const Result<client::Reply>& reply) {
  if (!reply && reply.error().code() != Code::kNotFound) return failed(reply.error());
  if (reply) {
    const auto fences = api::decodeText<api::InterferenceFences>(reply->body);
    const auto book = fences && fences->spec.workload == workload
                          ? api::bookOf(*fences)
                          : Result<api::FenceBook>(api::FenceBook());
    if (book) pooled_.add(*book);
  }
  askNext();
}

void FenceExchange::failed(const Error& error) {
  underWay_ = false;
  next_ = next_ - kEvery + kAgain;
  if (said_ == error.text()) return;
  said_ = error.text();
  log.warn("InterferenceFences: {}; tried again in a few minutes", said_);
}

}  // namespace mangrove::agent
