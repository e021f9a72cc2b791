package resources_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/swar-tts/swar/api/v1alpha1"
	"github.com/swar-tts/swar/controllers/resources"
	"github.com/swar-tts/swar/runtime/contract"
	"github.com/swar-tts/swar/runtime/grpcauth"
	"github.com/swar-tts/swar/runtime/grpcauth/grpcauthtest"
)

// startLimit is for programs on a machine that does much else.
const startLimit = 2 * time.Minute

// node is this machine in the place of one of a cluster: it starts containers as processes.
type node struct {
	t       *testing.T
	bin     string // folder of the programs
	api     string // kubeconfig of an API server that knows no pod
	bundle  string // a small model
	archive []byte // the same

	authority []byte // certificates that a ConfigMap holds
}

// TestProgramsTakeWhatTheyAreGiven starts the programs with the arguments, the environment and the files that the
// objects of every sample and choice give them, so that a flag that there is not, or a value that is refused, is found.
func TestProgramsTakeWhatTheyAreGiven(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds four programs and starts them many times")
	}
	n := newNode(t)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(n.archive) }))
	defer web.Close()
	manifest, err := os.ReadFile(filepath.Join(n.bundle, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("ports", n.testDefaults)
	t.Run("proxy", n.testProxy)
	for name, d := range all(t) {
		t.Run(name, func(t *testing.T) {
			n := *n
			n.t = t
			if d.Spec.Model.SHA256 != "" {
				d.Spec.Model.SHA256 = sumOf(manifest)
			}
			if source := d.Spec.Model.Source.Pull; source != nil { // no hub is asked here
				*source = v1alpha1.PullSource{Model: web.URL + "#sha256=" + sumOf(n.archive),
					Precision: source.Precision}
			}
			worker, router := templates(t, resources.Build(release, d, resources.Facts{Workers: 1}))
			n.run(d, worker, `"ready"`, "swar-worker", "--listen=127.0.0.1:0", "--http=127.0.0.1:0", "--oversubscribe")
			n.run(d, router, `"serving"`, "swar-router",
				"--listen=127.0.0.1:0", "--http=127.0.0.1:0", "--watch=127.0.0.1:0", "--kubeconfig="+n.api)
		})
	}
}

func newNode(t *testing.T) *node {
	n := &node{t: t, bin: t.TempDir(), bundle: filepath.Join(t.TempDir(), "model")}
	for _, program := range []string{"swar", "swar-worker", "swar-router"} {
		build(t, n.bin, program)
	}
	random := exec.Command(filepath.Join(n.bin, "swar"), "bundle", "synth-random", "--size", "tiny", "-o", n.bundle)
	if out, err := random.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n.archive = pack(t, n.bundle)
	api := httptest.NewServer(http.HandlerFunc(noSlices))
	t.Cleanup(api.Close)
	n.api = filepath.Join(t.TempDir(), "kubeconfig")
	text := `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c"}}],` +
		`"clusters":[{"name":"c","cluster":{"server":"` + api.URL + `"}}]}`
	if err := os.WriteFile(n.api, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return n
}

// build makes a program, whose folder is named like it without swar-.
func build(t *testing.T, bin, program string) {
	t.Helper()
	folder := "../../cmd/" + strings.TrimPrefix(program, "swar-")
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, program), folder).CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", program, err, out)
	}
}

// noSlices answers as an API server of a cluster without EndpointSlices.
func noSlices(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Has("watch") {
		<-r.Context().Done()
		return
	}
	io.WriteString(w, `{"kind":"EndpointSliceList","apiVersion":"discovery.k8s.io/v1","metadata":{"resourceVersion":"1"},"items":[]}`)
}

// run starts the containers of a pod. More flags say what is different on this machine. The last container must say
// done in its log, or say that what it lacks is the library of neural models.
func (n *node) run(d *v1alpha1.TTSDeployment, pod corev1.PodTemplateSpec, done, program string, more ...string) {
	n.t.Helper()
	files := n.mount(d, pod)
	for _, c := range pod.Spec.InitContainers {
		cmd := n.command(c, files, filepath.Join(n.bin, c.Command[0]))
		if out, err := cmd.CombinedOutput(); err != nil {
			n.t.Fatalf("%s %q: %v\n%s", c.Name, cmd.Args[1:], err, out)
		}
	}
	cmd := n.command(pod.Spec.Containers[0], files, filepath.Join(n.bin, program), more...)
	log, err := cmd.StderrPipe()
	if err != nil {
		n.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(log); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), done) {
			cmd.Process.Kill()
			cmd.Wait()
			return
		}
	}
	err = cmd.Wait()
	if strings.Contains(said.String(), "onnxruntime") && cmd.ProcessState.ExitCode() == 1 {
		return
	}
	n.t.Errorf("%s %q ends (%v) before it says %s:\n%s", program, cmd.Args[1:], err, done, said.String())
}

// command is that of a container, with the files of this machine.
func (n *node) command(c corev1.Container, files *strings.Replacer, program string, more ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	n.t.Cleanup(cancel)
	var args []string
	for _, arg := range c.Args {
		args = append(args, files.Replace(arg))
	}
	cmd := exec.CommandContext(ctx, program, append(args, more...)...)
	cmd.Dir = n.t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SWAR_ONNXRUNTIME=" + os.Getenv("SWAR_ONNXRUNTIME")}
	for _, v := range c.Env {
		value := v.Value
		switch {
		case v.ValueFrom == nil:
		case v.ValueFrom.SecretKeyRef != nil:
			value = map[string]string{
				contract.PortalAddress: "127.0.0.1:1", contract.APIKeys: "one-key\nanother-key=anjura\n",
				"auth": "token-of-twilio",
			}[v.ValueFrom.SecretKeyRef.Key]
		case v.ValueFrom.FieldRef != nil: // the label is not there on older clusters
		}
		cmd.Env = append(cmd.Env, files.Replace(v.Name+"="+value))
	}
	return cmd
}

// mount makes the folders of a pod, and returns what names them in place of the paths in containers.
func (n *node) mount(d *v1alpha1.TTSDeployment, pod corev1.PodTemplateSpec) *strings.Replacer {
	n.t.Helper()
	volumes := map[string]corev1.Volume{}
	for _, v := range pod.Spec.Volumes {
		volumes[v.Name] = v
	}
	var places []string
	if s := d.Spec.Model.Source.Image; s != nil && s.Path != "" {
		places = append(places, "="+s.Path, "="+n.bundle)
	}
	mounts := slices.Clone(pod.Spec.Containers[0].VolumeMounts)
	for _, c := range pod.Spec.InitContainers {
		for _, m := range c.VolumeMounts {
			isMounted := func(other corev1.VolumeMount) bool { return other.MountPath == m.MountPath }
			if !slices.ContainsFunc(mounts, isMounted) {
				mounts = append(mounts, m)
			}
		}
	}
	for _, m := range mounts {
		folder := n.t.TempDir()
		switch v := volumes[m.Name]; {
		case v.Secret != nil:
			n.fill(d, folder)
		case v.ConfigMap != nil:
			if err := os.WriteFile(filepath.Join(folder, v.ConfigMap.Items[0].Path), n.authority, 0o600); err != nil {
				n.t.Fatal(err)
			}
		case v.Image != nil || v.PersistentVolumeClaim != nil:
			if err := os.CopyFS(filepath.Join(folder, "hindi-int8"), os.DirFS(n.bundle)); err != nil {
				n.t.Fatal(err)
			}
		}
		places = append(places, "="+m.MountPath, "="+folder)
	}
	return strings.NewReplacer(places...)
}

// fill writes the entries that any Secret of a fleet has.
func (n *node) fill(d *v1alpha1.TTSDeployment, folder string) {
	id := grpcauth.Identity{Namespace: d.Namespace, Name: d.Name, Role: grpcauth.Router}
	files := grpcauthtest.New(n.t).Write(folder, grpcauthtest.Leaf{URIs: []string{id.String()}})
	if filepath.Base(files.Cert) != contract.TLSCert || filepath.Base(files.Key) != contract.TLSKey ||
		filepath.Base(files.CA) != contract.TLSAuthority {
		n.t.Fatalf("the entries of Secrets are %v", files)
	}
	if err := os.WriteFile(filepath.Join(folder, contract.Token), []byte(grpcauthtest.Token), 0o600); err != nil {
		n.t.Fatal(err)
	}
}

// testProxy has a pod pull its model from a server with an authority of its own, which only a proxy reaches.
func (n *node) testProxy(t *testing.T) {
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(n.archive) }))
	defer web.Close()
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "example.com:443" {
			http.Error(w, "only models", http.StatusForbidden)
			return
		}
		asked.Add(1)
		connect(w, web.Listener.Addr().String())
	}))
	defer proxy.Close()
	d := of(t, throughProxy)
	d.Spec.Model.Source.Pull.Model = "https://example.com/m.tar#sha256=" + sumOf(n.archive)
	d.Spec.Runtime.Env = []v1alpha1.EnvVar{{Name: "HTTPS_PROXY", Value: &proxy.URL}}
	inside := *n
	inside.t = t
	pull := func() ([]byte, error) {
		worker, _ := templates(t, resources.Build(release, d, resources.Facts{Workers: 1}))
		c := worker.Spec.InitContainers[0]
		return inside.command(c, inside.mount(d, worker), filepath.Join(n.bin, c.Command[0])).CombinedOutput()
	}
	inside.authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})
	if out, err := pull(); err != nil || asked.Load() == 0 {
		t.Errorf("pulling through the proxy, which was asked %d times: %v\n%s", asked.Load(), err, out)
	}
	d.Spec.Model.Source.Pull.Authority = nil
	if out, err := pull(); err == nil || !strings.Contains(string(out), "certificate") {
		t.Errorf("without the authority: %v\n%s", err, out)
	}
}

// connect joins the client of a proxy with a server, until either ends.
func connect(w http.ResponseWriter, server string) {
	to, err := net.Dial("tcp", server)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer to.Close()
	w.WriteHeader(http.StatusOK)
	from, both, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer from.Close()
	go func() {
		defer to.Close()
		io.Copy(to, both)
	}()
	io.Copy(from, to)
}

// testDefaults looks at what the programs listen on where nothing else is said, as in every pod.
func (n *node) testDefaults(t *testing.T) {
	build(t, n.bin, "swar-portal")
	for program, defaults := range map[string]map[string]int{
		"swar-worker": {"listen": contract.WorkerSpeech, "http": contract.WorkerProbe},
		"swar-router": {"listen": contract.RouterAPI, "http": contract.RouterProbe, "watch": contract.RouterWatch},
		"swar-portal": {"listen": contract.PortalAPI, "dataplane": contract.PortalDataplane, "http": contract.PortalProbe},
	} {
		help, err := exec.Command(filepath.Join(n.bin, program), "--help").Output()
		if err != nil {
			t.Fatalf("%s: %v", program, err)
		}
		for flag, port := range defaults {
			line, ok := lineOf(string(help), "--"+flag+" ")
			if want := fmt.Sprintf(`(default ":%d")`, port); !ok || !strings.Contains(line, want) {
				t.Errorf("%s --%s: %q, want it to have %s", program, flag, line, want)
			}
		}
	}
}

// lineOf finds the line that explains a flag.
func lineOf(text, with string) (string, bool) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, with) && strings.HasPrefix(strings.TrimSpace(line), "--") {
			return line, true
		}
	}
	return "", false
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// pack makes an archive of a folder.
func pack(t *testing.T, folder string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := errors.Join(w.AddFS(os.DirFS(folder)), w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
