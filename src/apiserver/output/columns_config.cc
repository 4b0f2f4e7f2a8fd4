// What pods and the server are configured with: ConfigMaps, Secrets, definitions, webhooks.

#include <string>

#include "apiserver/output/columns.h"

namespace mangrove::apiserver {

namespace {

int64_t sizeOf(json::View view) {
  return static_cast<int64_t>(view.size());
}

constexpr Column kData{"Data", "integer", "How many entries it has"};
constexpr Column kConfigMapColumns[] = {kName, kData, kAge};

void configMapCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.number(sizeOf(row.object["data"]) + sizeOf(row.object["binaryData"]));
  out.text(row.age());
}

constexpr Column kSecretColumns[] = {
    kName, {"Type", "string", "What the entries are for"}, kData, kAge};

void secretCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.text(textOf(row.object["type"]));
  out.number(sizeOf(row.object["data"]));
  out.text(row.age());
}

constexpr Column kDefinitionColumns[] = {kName, kCreatedAt};

void definitionCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.text(row.createdAt());
}

constexpr Column kWebhookColumns[] = {
    kName, {"Webhooks", "integer", "How many webhooks it lists"}, kAge};

void webhookCells(const TableRow& row, Cells& out) {
  out.text(row.name());
  out.number(sizeOf(row.object["webhooks"]));
  out.text(row.age());
}

constexpr Column kPolicyColumns[] = {kName,
                                     {"Validations", "integer", "How many rules it has"},
                                     {"ParamKind", "string", "The kind of its parameters"},
                                     kAge};

void policyCells(const TableRow& row, Cells& out) {
  const json::View param = row.spec()["paramKind"];
  std::string text(textOf(param["apiVersion"]));
  if (param.isObject()) text += "/" + std::string(textOf(param["kind"]));
  out.text(row.name());
  out.number(sizeOf(row.spec()["validations"]));
  out.textOr(text, kUnset);
  out.text(row.age());
}

constexpr Column kBindingColumns[] = {kName,
                                      {"PolicyName", "string", "The policy it puts in force"},
                                      {"ParamRef", "string", "Its parameters"},
                                      kAge};

void bindingCells(const TableRow& row, Cells& out) {
  const json::View param = row.spec()["paramRef"];
  std::string text(textOf(param["name"]));
  if (const auto ns = textOf(param["namespace"]); !ns.empty()) text = std::string(ns) + "/" + text;
  out.text(row.name());
  out.text(textOf(row.spec()["policyName"]));
  out.textOr(text, kUnset);
  out.text(row.age());
}

constexpr std::string_view kAdmission = "admissionregistration.k8s.io";
constexpr TableKind kTables[] = {
    {"", "ConfigMap", kConfigMapColumns, &configMapCells},
    {"", "Secret", kSecretColumns, &secretCells},
    {"apiextensions.k8s.io", "CustomResourceDefinition", kDefinitionColumns, &definitionCells},
    {kAdmission, "MutatingWebhookConfiguration", kWebhookColumns, &webhookCells},
    {kAdmission, "ValidatingWebhookConfiguration", kWebhookColumns, &webhookCells},
    {kAdmission, "ValidatingAdmissionPolicy", kPolicyColumns, &policyCells},
    {kAdmission, "ValidatingAdmissionPolicyBinding", kBindingColumns, &bindingCells},
};

}  // namespace

std::span<const TableKind> configTables() {
  return kTables;
}

}  // namespace mangrove::apiserver
