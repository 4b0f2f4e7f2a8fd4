#!/usr/bin/env bash
# The commands of stock kubectl that make objects themselves; they send protobuf.
source "$(dirname "$0")/lib/apiserver.sh"
start

want "namespace/made created" kubectl create namespace made
kubectl config set-context --current --namespace=made >/dev/null
echo "hello" >"$dir/file.txt"
want "configmap/cm created" kubectl create configmap cm --from-literal=a=1 --from-file="$dir/file.txt"
same "1 hello" kubectl get cm cm -o 'jsonpath={.data.a} {.data.file\.txt}'
want "secret/s created" kubectl create secret generic s --from-literal=password=p
same "cA==" kubectl get secret s -o 'jsonpath={.data.password}'
want "secret/pull created" kubectl create secret docker-registry pull --docker-server=r.io --docker-username=u --docker-password=p
want "serviceaccount/robot created" kubectl create serviceaccount robot
want "ey" kubectl create token robot
want "deployment.apps/d created" kubectl create deployment d --image=i:1 --replicas=2 --port=80
want "horizontalpodautoscaler.autoscaling/d autoscaled" kubectl autoscale deployment d --min=1 --max=3 --cpu-percent=50
want "Deployment/d" kubectl get hpa d
want "job.batch/j created" kubectl create job j --image=i:1 -- sleep 1
want "cronjob.batch/cj created" kubectl create cronjob cj --image=i:1 --schedule="*/5 * * * *"
want "job.batch/now created" kubectl create job now --from=cronjob/cj
same "CronJob" kubectl get job now -o 'jsonpath={.metadata.ownerReferences[0].kind}'
want "pod/p created" kubectl run p --image=i:1 --labels=app=p --env=A=1
want "service/p exposed" kubectl expose pod p --port=80
want "service/svc created" kubectl create service clusterip svc --tcp=80:8080
want "ingress.networking.k8s.io/ing created" kubectl create ingress ing --rule="a.b/*=svc:80"
want "role.rbac.authorization.k8s.io/r created" kubectl create role r --verb=get,list --resource=pods
want "rolebinding.rbac.authorization.k8s.io/rb created" kubectl create rolebinding rb --role=r --serviceaccount=made:robot
want "clusterrole.rbac.authorization.k8s.io/cr created" kubectl create clusterrole cr --verb=get --resource=nodes
want "clusterrolebinding.rbac.authorization.k8s.io/crb created" kubectl create clusterrolebinding crb --clusterrole=cr --user=jane
want "yes" kubectl auth can-i list pods --as system:serviceaccount:made:robot
want "resourcequota/q created" kubectl create quota q --hard=pods=10,count/jobs.batch=5
want "poddisruptionbudget.policy/pdb created" kubectl create poddisruptionbudget pdb --selector=app=p --min-available=50%
want "priorityclass.scheduling.k8s.io/high created" kubectl create priorityclass high --value=1000
want "created (dry run)" kubectl create configmap dry --dry-run=client
want "created (server dry run)" kubectl create configmap dry --dry-run=server
refused '"cm" already exists' kubectl create configmap cm
refused "Invalid value" kubectl create configmap Bad_Name
eventually want '"count/jobs.batch":"2"' kubectl get quota q -o 'jsonpath={.status.used}'
want "deleted" kubectl delete ns made --timeout=30s
all_good
