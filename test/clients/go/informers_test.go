package clients

import (
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"
)

func TestInformerSeesListThenWatchThenResync(t *testing.T) {
	ctx, client, ns := newClient(t)
	maps := client.CoreV1().ConfigMaps(ns)
	must[*corev1.ConfigMap](t)(maps.Create(ctx, configMap("before", nil), metav1.CreateOptions{}))
	factory := informers.NewSharedInformerFactoryWithOptions(client, time.Second, informers.WithNamespace(ns))
	informer := factory.Core().V1().ConfigMaps()
	var added, updated, deleted, resynced atomic.Int32
	must[cache.ResourceEventHandlerRegistration](t)(informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { added.Add(1) },
		UpdateFunc: func(before, now any) {
			if before.(*corev1.ConfigMap).ResourceVersion == now.(*corev1.ConfigMap).ResourceVersion {
				resynced.Add(1)
			} else {
				updated.Add(1)
			}
		},
		DeleteFunc: func(any) { deleted.Add(1) },
	}))
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	must[*corev1.ConfigMap](t)(maps.Create(ctx, configMap("after", nil), metav1.CreateOptions{}))
	must[*corev1.ConfigMap](t)(maps.Update(ctx, configMap("after", map[string]string{"a": "b"}), metav1.UpdateOptions{}))
	if err := maps.Delete(ctx, "before", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "adds, update, delete, resync", func() bool {
		return added.Load() >= 2 && updated.Load() >= 1 && deleted.Load() == 1 && resynced.Load() > 0
	})
	found := must[[]*corev1.ConfigMap](t)(informer.Lister().ConfigMaps(ns).List(labels.Everything()))
	if len(found) < 1 {
		t.Fatalf("the cache holds %d objects", len(found))
	}
}

// WatchList: initial events in the stream, ended by a bookmark that says so; then ordinary bookmarks.
func TestStreamedListEndsWithABookmark(t *testing.T) {
	ctx, client, ns := newClient(t)
	maps := client.CoreV1().ConfigMaps(ns)
	for _, name := range []string{"a", "b"} {
		must[*corev1.ConfigMap](t)(maps.Create(ctx, configMap(name, nil), metav1.CreateOptions{}))
	}
	yes, seconds := true, int64(5)
	stream := must[watch.Interface](t)(maps.Watch(ctx, metav1.ListOptions{
		SendInitialEvents: &yes, AllowWatchBookmarks: true, TimeoutSeconds: &seconds,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan}))
	defer stream.Stop()
	seen := map[string]bool{}
	for event := range stream.ResultChan() {
		object := event.Object.(*corev1.ConfigMap)
		if event.Type == watch.Bookmark {
			if object.Annotations[metav1.InitialEventsAnnotationKey] != "true" || !seen["a"] || !seen["b"] {
				t.Fatalf("bookmark %v after %v", object.Annotations, seen)
			}
			return
		}
		seen[object.Name] = true
	}
	t.Fatal("the stream ended without a bookmark")
}

func TestProtobufIsSpokenBothWays(t *testing.T) {
	ctx, _, ns := newClient(t)
	client := kubernetes.NewForConfigOrDie(configFor(t, "application/vnd.kubernetes.protobuf"))
	made, err := client.CoreV1().Pods(ns).Create(ctx, pod("p"), metav1.CreateOptions{})
	if apierrors.IsUnsupportedMediaType(err) {
		t.Skip("this server reads no protobuf")
	}
	if err != nil {
		t.Fatal(err)
	}
	if made.Status.QOSClass != corev1.PodQOSBestEffort || made.UID == "" {
		t.Fatalf("created as %+v", made)
	}
	list := must[*corev1.PodList](t)(client.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{}))
	if len(list.Items) != 1 || list.Items[0].Spec.Containers[0].Image != "i:1" {
		t.Fatalf("listed as %+v", list.Items)
	}
	must[*corev1.Pod](t)(client.CoreV1().Pods(ns).Patch(ctx, "p", types.MergePatchType, []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{}))
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(ns))
	lister := factory.Core().V1().Pods().Lister()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	cached := must[*corev1.Pod](t)(lister.Pods(ns).Get("p"))
	if cached.Labels["x"] != "y" {
		t.Fatalf("cached as %+v", cached.Labels)
	}
}

func TestExpiredAndFutureVersions(t *testing.T) {
	ctx, client, ns := newClient(t)
	err := client.CoreV1().RESTClient().Get().Namespace(ns).Resource("configmaps").Param("resourceVersion", "99999999").
		MaxRetries(0).Do(ctx).Error()
	if !apierrors.IsTimeout(err) {
		t.Fatalf("a future version: %v", err)
	}
	_, err = client.CoreV1().ConfigMaps(ns).List(ctx, metav1.ListOptions{Continue: "bm9uc2Vuc2U"})
	if !apierrors.IsBadRequest(err) {
		t.Fatalf("a continue token that is none: %v", err)
	}
}

func TestDiscoveryAndDynamicInformer(t *testing.T) {
	ctx, client, ns := newClient(t)
	config := configFor(t, "application/json")
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "slo.koordinator.sh", Kind: "NodeMetric"})
	if err != nil || mapping.Resource.Resource != "nodemetrics" {
		t.Fatalf("mapping %v, %v", mapping, err)
	}
	if _, _, err := client.Discovery().ServerGroupsAndResources(); err != nil {
		t.Fatal(err)
	}
	if preferred, err := discovery.ServerPreferredResources(client.Discovery()); err != nil || len(preferred) == 0 {
		t.Fatal(err)
	}
	if _, err := client.Discovery().OpenAPIV3().Paths(); err != nil {
		t.Fatal(err)
	}
	plain := dynamic.NewForConfigOrDie(config)
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(plain, 0, ns, nil)
	informer := factory.ForResource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"})
	factory.Start(ctx.Done())
	must[*corev1.ConfigMap](t)(client.CoreV1().ConfigMaps(ns).Create(ctx, configMap("d", nil), metav1.CreateOptions{}))
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	eventually(t, "the dynamic cache has it", func() bool {
		_, err := informer.Lister().ByNamespace(ns).Get("d")
		return err == nil
	})
}
