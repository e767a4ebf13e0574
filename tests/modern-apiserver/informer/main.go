//go:debug default=go1.26

// Follows a resource with a shared informer of client-go, as controllers in Go do, and prints what its handler is told: a line an
// event, and SYNCED behind the last one of the first list. tests/install.sh builds it beside the modern API server.
//
//	informer KUBECONFIG GROUP/VERSION/RESOURCE NAMESPACE
//
// KUBE_FEATURE_WatchListClient=true or false decides whether it streams its lists.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func say(event string, obj any) {
	if unknown, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		// A list does not have it any more, and no event said so.
		event, obj = "MISSED", unknown.Obj
	}
	o := obj.(metav1.Object)
	fmt.Println(event, o.GetName(), o.GetResourceVersion())
}

func main() {
	if len(os.Args) != 4 || strings.Count(os.Args[2], "/") != 2 {
		fmt.Fprintln(os.Stderr, "usage: informer KUBECONFIG GROUP/VERSION/RESOURCE NAMESPACE")
		os.Exit(2)
	}
	at := strings.Split(os.Args[2], "/")
	if err := follow(os.Args[1], schema.GroupVersionResource{Group: at[0], Version: at[1], Resource: at[2]}, os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "informer:", err)
		os.Exit(1)
	}
}

func follow(kubeconfig string, resource schema.GroupVersionResource, namespace string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, nil)
	informer := factory.ForResource(resource).Informer()
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { say("ADDED", obj) },
		UpdateFunc: func(_, obj any) { say("MODIFIED", obj) },
		DeleteFunc: func(obj any) { say("DELETED", obj) },
	})
	if err != nil {
		return err
	}
	factory.Start(context.Background().Done())
	// Of the handler: it was told of each object, too.
	if !cache.WaitForCacheSync(context.Background().Done(), handler.HasSynced) {
		return fmt.Errorf("%s did not synchronize", resource)
	}
	fmt.Println("SYNCED")
	select {}
}
