//go:build !envtest

package main

import (
	"context"

	"github.com/spf13/cobra"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func init() {
	programs["kube-controller-manager"] = component(controllermanager.NewControllerManagerCommand)
	programs["kube-scheduler"] = component(func() *cobra.Command { return scheduler.NewSchedulerCommand() })
	programs["kube-proxy"] = component(proxy.NewProxyCommand)
	programs["kubelet"] = component(func() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) })
}
