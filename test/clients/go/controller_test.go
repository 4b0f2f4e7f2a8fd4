package clients

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsapply "k8s.io/client-go/applyconfigurations/apps/v1"
	coreapply "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/retry"
	"k8s.io/client-go/util/workqueue"
)

// A controller as people write them: informer, queue of keys, reconcile that writes status.
func TestReconcileLoopWritesStatus(t *testing.T) {
	ctx, client, ns := newClient(t)
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	defer queue.ShutDown()
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(ns))
	deployments := factory.Apps().V1().Deployments()
	enqueue := func(object any) {
		if key, err := cache.MetaNamespaceKeyFunc(object); err == nil {
			queue.Add(key)
		}
	}
	must[cache.ResourceEventHandlerRegistration](t)(deployments.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, UpdateFunc: func(_, now any) { enqueue(now) }}))
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	go func() {
		for {
			key, stop := queue.Get()
			if stop {
				return
			}
			_, name, _ := cache.SplitMetaNamespaceKey(key)
			err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
				cached, err := deployments.Lister().Deployments(ns).Get(name)
				if err != nil || cached.Status.ObservedGeneration == cached.Generation {
					return nil
				}
				now := cached.DeepCopy()
				now.Status.ObservedGeneration, now.Status.Replicas = now.Generation, *now.Spec.Replicas
				_, err = client.AppsV1().Deployments(ns).UpdateStatus(ctx, now, metav1.UpdateOptions{})
				return err
			})
			if err != nil {
				queue.AddRateLimited(key)
			}
			queue.Done(key)
		}
	}()
	two := int32(2)
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "d"}}, Spec: pod("x").Spec}
	made := must[*appsv1.Deployment](t)(client.AppsV1().Deployments(ns).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "d"},
		Spec: appsv1.DeploymentSpec{Replicas: &two, Template: template,
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "d"}}}}, metav1.CreateOptions{}))
	settled := func(generation int64) func() bool {
		return func() bool {
			now, err := client.AppsV1().Deployments(ns).Get(ctx, "d", metav1.GetOptions{})
			return err == nil && now.Status.ObservedGeneration == generation && now.Generation == generation
		}
	}
	eventually(t, "status of the first generation", settled(made.Generation))
	scale, err := client.AppsV1().Deployments(ns).GetScale(ctx, "d", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	scale.Spec.Replicas = 4
	if _, err := client.AppsV1().Deployments(ns).UpdateScale(ctx, "d", scale, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "status of the second generation", settled(made.Generation+1))
}

func TestOneLeaderAtATime(t *testing.T) {
	ctx, client, ns := newClient(t)
	elect := func(who string, leads chan<- string) context.CancelFunc {
		ctx, cancel := context.WithCancel(ctx)
		lock := must[resourcelock.Interface](t)(resourcelock.New(resourcelock.LeasesResourceLock, ns, "lead", client.CoreV1(),
			client.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: who}))
		go leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: lock, LeaseDuration: 2 * time.Second, RenewDeadline: time.Second, RetryPeriod: 200 * time.Millisecond,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leads <- who }, OnStoppedLeading: func() {}},
		})
		return cancel
	}
	leads := make(chan string, 2)
	stopOne := elect("one", leads)
	if who := <-leads; who != "one" {
		t.Fatal(who)
	}
	defer elect("two", leads)()
	stopOne()
	if who := <-leads; who != "two" {
		t.Fatal(who)
	}
}

func TestEventsAreRecorded(t *testing.T) {
	ctx, client, ns := newClient(t)
	broadcaster := record.NewBroadcaster()
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: client.CoreV1().Events(ns)})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "tester"})
	about := must[*corev1.Pod](t)(client.CoreV1().Pods(ns).Create(ctx, pod("p"), metav1.CreateOptions{}))
	for range 3 { // the same again and again becomes one event that counts
		recorder.Event(about, corev1.EventTypeWarning, "Odd", "something is odd")
	}
	eventually(t, "one event that was seen three times", func() bool {
		list, err := client.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=p,reason=Odd"})
		return err == nil && len(list.Items) == 1 && list.Items[0].Count == 3
	})
}

func TestGeneratedApplyConfigurations(t *testing.T) {
	ctx, client, ns := newClient(t)
	desired := func(image string) *appsapply.DeploymentApplyConfiguration {
		return appsapply.Deployment("d", ns).WithSpec(appsapply.DeploymentSpec().
			WithSelector(metaapply.LabelSelector().WithMatchLabels(map[string]string{"app": "d"})).
			WithTemplate(coreapply.PodTemplateSpec().WithLabels(map[string]string{"app": "d"}).
				WithSpec(coreapply.PodSpec().WithContainers(coreapply.Container().WithName("c").WithImage(image)))))
	}
	apply := func(image, manager string, force bool) (*appsv1.Deployment, error) {
		return client.AppsV1().Deployments(ns).Apply(ctx, desired(image), metav1.ApplyOptions{FieldManager: manager, Force: force})
	}
	first := must[*appsv1.Deployment](t)(apply("i:1", "one", false))
	if _, err := apply("i:2", "two", false); !apierrors.IsConflict(err) {
		t.Fatalf("a conflict: %v", err)
	}
	must[*appsv1.Deployment](t)(apply("i:2", "two", true))
	extracted := must[*appsapply.DeploymentApplyConfiguration](t)(appsapply.ExtractDeployment(first, "one"))
	if extracted.Spec == nil || *extracted.Spec.Template.Spec.Containers[0].Image != "i:1" {
		t.Fatalf("extracted %+v", extracted)
	}
	again := must[*appsv1.Deployment](t)(apply("i:2", "two", false))
	twice := must[*appsv1.Deployment](t)(apply("i:2", "two", false))
	if again.ResourceVersion != twice.ResourceVersion {
		t.Fatal("applying the same twice wrote twice")
	}
}
