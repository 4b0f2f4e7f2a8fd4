#include "apiserver/admission/builtin_certificates.h"

#include "apiserver/core/object.h"

namespace mangrove::apiserver {

namespace {

json::Array texts(const std::vector<std::string>& list) {
  json::Array out;
  for (const std::string& one : list) out.emplace_back(one);
  return out;
}

void sign(json::Object& spec, const Identity& who) {
  for (std::string_view key : {"uid", "groups", "extra"}) spec.erase(key);
  spec["username"] = who.user;
  if (!who.uid.empty()) spec["uid"] = who.uid;
  if (!who.groups.empty()) spec["groups"] = texts(who.groups);
  for (const auto& [key, values] : who.extra) objectAt(spec, "extra")[key] = texts(values);
}

}  // namespace

void CertificateAdmission::mutate(AdmissionRequest& request, Done done) {
  const bool isRequest =
      request.resource->kind->kind == "CertificateSigningRequest" && request.object.is_object();
  if (isRequest && request.operation == Operation::kCreate)
    sign(objectAt(request.object.get_object(), "spec"), request.who);
  if (isRequest && request.oldObject.is_object())
    copyMember(request.object.get_object(), request.oldObject.get_object(), "spec");
  done(std::nullopt);
}

}  // namespace mangrove::apiserver
