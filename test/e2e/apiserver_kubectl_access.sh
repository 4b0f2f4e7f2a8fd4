#!/usr/bin/env bash
# Who may do what, through stock kubectl: roles, can-i, whoami, impersonation, service-account tokens.
source "$(dirname "$0")/lib/apiserver.sh"
start
kubectl apply -f - >/dev/null <<'Y'
apiVersion: v1
kind: ServiceAccount
metadata: {name: robot}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, list, patch], resourceNames: [open]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: User, name: jane, apiGroup: rbac.authorization.k8s.io}, {kind: ServiceAccount, name: robot, namespace: default}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: open}
data: {k: v}
Y
want "yes" kubectl auth can-i '*' '*'
want "yes" kubectl auth can-i get cm/open --as jane
refused "no" kubectl auth can-i get cm --as jane
refused "no" kubectl auth can-i delete cm/open --as jane
want "[open]" kubectl auth can-i --list --as jane
want "[system:masters system:authenticated]" kubectl auth whoami
want "jane" kubectl auth whoami --as jane
want "[devs system:authenticated]" kubectl auth whoami --as jane --as-group devs
same "v" kubectl get cm open -o 'jsonpath={.data.k}' --as jane
refused 'configmaps "kube-root-ca.crt" is forbidden: User "jane" cannot get resource "configmaps" in API group "" in the namespace "default"' kubectl get cm kube-root-ca.crt --as jane
refused 'nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope' kubectl get nodes --as jane
want "serverside-applied" kubectl apply --server-side --as jane -f - <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"open"},"data":{"j":"1"}}'
kubectl delete cm open >/dev/null
refused 'cannot create resource "configmaps"' kubectl apply --server-side --as jane -f - <<<'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"open"},"data":{"j":"1"}}'
kubectl apply -f - >/dev/null <<'Y'
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: editor}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
subjects: [{kind: User, name: joe, apiGroup: rbac.authorization.k8s.io}]
Y
refused 'is attempting to grant RBAC permissions not currently held' kubectl create --as joe -f - <<<'{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"more"},"rules":[{"apiGroups":["x"],"resources":["y"],"verbs":["get"]}]}'
want "reconciled" kubectl auth reconcile -f - <<<'{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"made"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}'

# A token for a service account works as one, and stops with it.
kubectl get --raw /api/v1/namespaces/default/serviceaccounts/robot >/dev/null
token=$(kubectl create --raw /api/v1/namespaces/default/serviceaccounts/robot/token -f - <<<'{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":3600}}' | sed 's/.*"token":"\([^"]*\)".*/\1/')
as_robot=(kubectl --kubeconfig /dev/null --server "https://127.0.0.1:$port" --insecure-skip-tls-verify --token "$token")
want "system:serviceaccount:default:robot" "${as_robot[@]}" auth whoami
refused 'User "system:serviceaccount:default:robot" cannot list resource "secrets"' "${as_robot[@]}" get secrets
kubectl delete sa robot >/dev/null
refused "Unauthorized" "${as_robot[@]}" auth whoami
refused "Unauthorized" kubectl --kubeconfig /dev/null --server "https://127.0.0.1:$port" --insecure-skip-tls-verify --token wrong get ns
refused "certificate signed by unknown authority" kubectl --kubeconfig /dev/null --server "https://127.0.0.1:$port" --token "$token" get ns

# A certificate request carries its author's name and can be approved; nobody here signs it.
pem=$(printf -- '-----BEGIN CERTIFICATE REQUEST-----\nAA==\n-----END CERTIFICATE REQUEST-----\n' | base64 -w0)
kubectl create -f - >/dev/null <<<"{\"apiVersion\":\"certificates.k8s.io/v1\",\"kind\":\"CertificateSigningRequest\",\"metadata\":{\"name\":\"csr\"},\"spec\":{\"request\":\"$pem\",\"signerName\":\"example.org/signer\",\"usages\":[\"client auth\"],\"username\":\"somebody\"}}"
same "admin" kubectl get csr csr -o 'jsonpath={.spec.username}'
want "Pending" kubectl get csr csr
want "approved" kubectl certificate approve csr
want "Approved" kubectl get csr csr
all_good
