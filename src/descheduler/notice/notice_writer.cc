#include "descheduler/notice/notice_writer.h"

#include <utility>

#include "base/os/log.h"
#include "descheduler/notice/notice.h"

namespace mangrove::descheduler {
namespace {

const Logger log("descheduler");

std::string bodyOf(const std::string& data, std::string_view ns) {
  json::Object meta{{"name", kNotice}, {"namespace", ns}};
  return json::write(json::Object{{"apiVersion", "v1"},
                                  {"kind", "ConfigMap"},
                                  {"metadata", std::move(meta)},
                                  {"data", json::parse(data).value_or(json::Object{})}});
}

}  // namespace

// The first word is always said: the leader before may have left one that is not true any more.
void NoticeWriter::tell(const std::map<std::string, std::string>& refused) {
  const MonoTime now = desk_.clock.mono();
  if (busy_ || now < next_) return;
  const std::string text = json::write(noticeData(refused));
  if (text == written_) return;
  next_ = now + kEvery;
  busy_ = true;
  patch(text);
}

void NoticeWriter::patch(const std::string& text) {
  const client::Ref ref{client::kind::kConfigMap, ns_, std::string(kNotice), ""};
  desk_.send(client::patchRequest(ref, client::PatchType::kMerge, bodyOf(text, ns_)),
             [this, text](Result<client::Reply> reply) {
               const bool absent = !reply && reply.error().code() == Code::kNotFound;
               if (!absent) return answered(text, reply);
               // A cluster in which nobody was ever refused needs no object.
               if (text == json::write(noticeData({}))) return answered(text, client::Reply{});
               create(text);
             });
}

void NoticeWriter::create(const std::string& text) {
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.ref = {client::kind::kConfigMap, ns_, "", ""};
  request.body = bodyOf(text, ns_);
  desk_.send(std::move(request),
             [this, text](Result<client::Reply> reply) { answered(text, reply); });
}

void NoticeWriter::answered(const std::string& text, const Result<client::Reply>& reply) {
  busy_ = false;
  if (reply) {
    written_ = text;
    complained_ = false;
    return;
  }
  if (!std::exchange(complained_, true))
    log.warn("who stays is not written to ConfigMap {}/{}: {}", ns_, kNotice, reply.error().text());
}

}  // namespace mangrove::descheduler
