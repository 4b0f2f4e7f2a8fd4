#!/usr/bin/env bash
# What a pod finds of the API server, as in any cluster: Service, variables, token, certificate and namespace, with the rights of its account and no more;
# files of volumes with the modes that were asked for; pods and services through the server's proxy; clients that go back to their pod.
source "$(dirname "$0")/lib/up.sh"
up_start
want 443 kubectl get service kubernetes -o 'jsonpath={.spec.ports[0].port}'
address=$(kubectl get service kubernetes -o 'jsonpath={.spec.clusterIP}')
want "$(ip -4 -o addr show dev "$bridge" | awk '{sub("/.*", "", $4); print $4; exit}')" kubectl get endpoints kubernetes -o 'jsonpath={.subsets[0].addresses[0].ip}'
want kubernetes kubectl get endpointslice kubernetes -o 'jsonpath={.metadata.labels.kubernetes\.io/service-name}'

# Every pod has what client libraries look for.
kubectl create role reader --verb=get,list --resource=pods >/dev/null
kubectl create rolebinding reader --role=reader --serviceaccount=default:default >/dev/null
kubectl create configmap script --from-file=ask="$(dirname "$0")/up_api_ask.py" >/dev/null
pod asks 'restartPolicy: Never, containers: [{name: main, image: x, command: [python3, /script/ask], volumeMounts: [{name: script, mountPath: /script}]}], volumes: [{name: script, configMap: {name: script}}]'
tries=120 want Succeeded state asks .status.phase
said=$(kubectl logs asks)
for line in "host $address" "namespace default" "version ok" "pods 200" "secrets 403" "by name ok"; do
  [[ "$said" == *"$line"* ]] || fail "the pod did not say '$line': $said"
done
want kube-api-access- state asks '.spec.volumes[*].name'

# … unless the pod, or its account, forgoes it.
kubectl create serviceaccount shy >/dev/null
kubectl patch serviceaccount shy -p '{"automountServiceAccountToken":false}' >/dev/null
pod forgoes 'automountServiceAccountToken: false, containers: [{name: main, image: x, command: [sleep, "1000"]}]'
pod shy 'serviceAccountName: shy, containers: [{name: main, image: x, command: [sleep, "1000"]}]'
pod insists 'serviceAccountName: shy, automountServiceAccountToken: true, containers: [{name: main, image: x, command: [sleep, "1000"]}]'
for one in forgoes shy insists; do want Running state "$one" .status.phase; done
for one in forgoes shy; do
  never kube-api-access state "$one" '.spec.volumes[*].name'
  never token kubectl exec "$one" -- ls /var/run/secrets/kubernetes.io/serviceaccount
done
want token kubectl exec insists -- ls /var/run/secrets/kubernetes.io/serviceaccount

# Modes and groups of files, names from the manifest.
kubectl create secret generic keys --from-literal=a=1 --from-literal=b=2 >/dev/null
pod modes 'securityContext: {runAsUser: 1000, fsGroup: 2000}, hostAliases: [{ip: 192.0.2.9, hostnames: [alpha, beta]}],
  containers: [{name: main, image: x, command: [sleep, "1000"], volumeMounts: [{name: p, mountPath: /p}, {name: d, mountPath: /d}, {name: s, mountPath: /s}]}],
  volumes: [{name: p, projected: {defaultMode: 0400, sources: [{secret: {name: keys, items: [{key: a, path: a}, {key: b, path: b, mode: 0640}]}}]}},
    {name: d, downwardAPI: {defaultMode: 0600, items: [{path: name, fieldRef: {fieldPath: metadata.name}}, {path: open, mode: 0644, fieldRef: {fieldPath: metadata.name}}]}},
    {name: s, secret: {secretName: keys, defaultMode: 0400}}]'
want Running state modes .status.phase
for file in "440 2000 /p/a" "640 2000 /p/b" "640 2000 /d/name" "644 2000 /d/open" "440 2000 /s/a"; do
  want "$file" kubectl exec modes -- stat -L -c '%a %g %n' "${file##* }"
done
want 1 kubectl exec modes -- cat /s/a
want "$(printf '192.0.2.9\talpha\tbeta')" kubectl exec modes -- cat /etc/hosts

# Through the server to pods and services, and back to the same pod.
for one in one two; do
  pod "$one" 'containers: [{name: main, image: x, command: [sh, -c, "mkdir -p /w; hostname >/w/who; cd /w; exec python3 -m http.server 8080"], ports: [{name: web, containerPort: 8080}],
    readinessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}}]'
  kubectl label pod "$one" part=web >/dev/null
done
kubectl apply -f - >/dev/null <<Y
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {part: web}, sessionAffinity: ClientIP, ports: [{name: http, port: 80, targetPort: web}]}
Y
want one kubectl get --raw /api/v1/namespaces/default/pods/one:8080/proxy/who
want one kubectl get --raw /api/v1/namespaces/default/pods/one:web/proxy/who
for port in 80 http; do tries=120 want o kubectl get --raw "/api/v1/namespaces/default/services/web:$port/proxy/who"; done
want "not found" kubectl get --raw /api/v1/namespaces/default/services/none:80/proxy/
want "no port named" kubectl get --raw /api/v1/namespaces/default/pods/one:other/proxy/
web=$(kubectl get service web -o 'jsonpath={.spec.clusterIP}')
want 2 bash -c "kubectl get endpoints web -o 'jsonpath={.subsets[*].addresses[*].ip}' | wc -w"
visited=$(for _ in 1 2 3 4 5 6; do curl -s --max-time 5 "http://$web/who"; done | sort -u | wc -l)
[ "$visited" -eq 1 ] || fail "one client came to $visited pods in spite of sessionAffinity"
kubectl delete pods --all --now >/dev/null
