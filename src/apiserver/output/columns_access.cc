// Who may do what: roles, their bindings, service accounts.

#include <string>
#include <vector>

#include <fmt/core.h>

#include "apiserver/output/columns.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

constexpr Column kRoleColumns[] = {kName, kCreatedAt};

void roleCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.text(row.createdAt());
}

constexpr Column kBindingColumns[] = {
    kName,
    {"Role", "string", "What is allowed"},
    kAge,
    {"Users", "string", "To these users", 1},
    {"Groups", "string", "To these groups", 1},
    {"ServiceAccounts", "string", "To these service accounts", 1}};

std::string subjectsText(json::View subjects, std::string_view kind) {
  std::vector<std::string> names;
  for (json::View subject : subjects.elements()) {
    if (textOf(subject["kind"]) != kind) continue;
    const std::string_view ns = textOf(subject["namespace"]);
    const std::string name(textOf(subject["name"]));
    names.push_back(ns.empty() ? name : std::string(ns) + "/" + name);
  }
  return join(names, ", ");
}

void bindingCells(const TableRow& row, Cells& out) {
  const json::View role = row.object["roleRef"];
  const json::View subjects = row.object["subjects"];
  out.text(row.name());
  out.text(fmt::format("{}/{}", textOf(role["kind"]), textOf(role["name"])));
  out.text(row.age());
  for (std::string_view kind : {"User", "Group", "ServiceAccount"})
    out.text(subjectsText(subjects, kind));
}

constexpr Column kAccountColumns[] = {kName, kAge};

void accountCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.text(row.age());
}

constexpr Column kRequestColumns[] = {kName,
                                      kAge,
                                      {"SignerName", "string", "Who shall sign"},
                                      {"Requestor", "string", "Who asks"},
                                      {"RequestedDuration", "string", "For how long"},
                                      {"Condition", "string", "What became of it"}};

// "Approved,Issued": what happened so far; nothing is Pending.
std::string requestState(json::View status) {
  std::vector<std::string> states;
  for (std::string_view type : {"Approved", "Denied", "Failed"})
    for (json::View condition : status["conditions"].elements())
      if (textOf(condition["type"]) == type) states.emplace_back(type);
  if (!textOf(status["certificate"]).empty()) states.emplace_back("Issued");
  return states.empty() ? "Pending" : join(states, ",");
}

void requestCells(const TableRow& row, Cells& out) {
  const json::View spec = row.object["spec"];
  const auto seconds = spec["expirationSeconds"].integer();
  out.text(row.name());
  out.text(row.age());
  out.text(textOf(spec["signerName"]));
  out.text(textOf(spec["username"]));
  out.text(seconds ? fmt::format("{}s", *seconds) : "<none>");
  out.text(requestState(row.object["status"]));
}

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr TableKind kTables[] = {
    {kRbac, "Role", kRoleColumns, &roleCells},
    {kRbac, "ClusterRole", kRoleColumns, &roleCells},
    {kRbac, "RoleBinding", kBindingColumns, &bindingCells},
    {kRbac, "ClusterRoleBinding", kBindingColumns, &bindingCells},
    {"", "ServiceAccount", kAccountColumns, &accountCells},
    {"certificates.k8s.io", "CertificateSigningRequest", kRequestColumns, &requestCells},
};

}  // namespace

std::span<const TableKind> accessTables() {
  return kTables;
}

}  // namespace mangrove::apiserver
