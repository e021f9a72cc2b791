// Command kubernetes is every program of a Kubernetes cluster in one file, which runs as the program that it is called
// by: kube-apiserver, kubelet, etcd and so on are links to it. What they share is compiled, linked and held in memory
// once.
//
// With the build tag envtest it holds only what tests of a controller need: etcd, kube-apiserver and kubectl.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	_ "time/tzdata" // images from scratch and small machines have no time zones of their own

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// programs are the names that the file answers to. node.go adds those of a whole cluster.
var programs = map[string]func(){
	"etcd":           func() { etcdmain.Main(os.Args) },
	"kube-apiserver": component(func() *cobra.Command { return apiserver.NewAPIServerCommand() }),
	"kubectl": func() {
		if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
			kubectlutil.CheckErr(err)
		}
	},
}

// component returns what runs a command and ends the process with its status. The command is made only then, since
// making one registers flags and metrics, which two of them would do twice.
func component(command func() *cobra.Command) func() {
	return func() { os.Exit(cli.Run(command())) }
}

func main() {
	name := filepath.Base(os.Args[0])
	run, ok := programs[name]
	if !ok {
		names := slices.Sorted(maps.Keys(programs))
		fmt.Fprintf(os.Stderr, "%s is not a name of a program; make a link to this file named %s\n", name,
			strings.Join(names, ", "))
		os.Exit(2)
	}
	run()
}
