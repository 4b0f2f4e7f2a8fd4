#include "agent/report/sole_writer.h"

#include "base/os/log.h"

namespace mangrove::agent {
namespace {

const Logger log("agent");

}  // namespace

SoleWriter::SoleWriter(client::ApiClient& client, Mailbox& owner, client::Kind kind,
                       std::string name)
    : client_(client), owner_(owner), kind_(kind), name_(std::move(name)) {}

SoleWriter::~SoleWriter() {
  life_.end();
}

void SoleWriter::create(const json::Value& object, Told told) {
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.ref = {kind_, "", ""};
  request.body = json::write(object);
  send(std::move(request), std::move(told));
}

void SoleWriter::patch(const json::Value& change, Told told) {
  send(client::patchRequest({kind_, "", name_}, client::PatchType::kMerge, json::write(change)),
       std::move(told));
}

void SoleWriter::send(client::Request request, Told told) {
  busy_ = true;
  client_.submit(owner_, std::move(request),
                 life_.guard([this, told = std::move(told)](const Result<client::Reply>& reply) {
                   busy_ = false;
                   if (!reply) log.warn("{} not written: {}", kind_.kind, reply.error().text());
                   told(reply.has_value());
                 }));
}

}  // namespace mangrove::agent
