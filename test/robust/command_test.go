package robust_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/lynqctl/lynqctl/test/robust/model"
)

// options are the words of a command's line, as KEY=VALUE with commas between values.
type options map[string][]string

func parseOptions(words []string) options {
	o := options{}
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		o[key] = strings.Split(value, ",")
	}
	return o
}

func (o options) one(key string) string { return strings.Join(o[key], ",") }

// verbs returns the commands of lynqctl in histories.
func verbs() []string {
	return []string{"apply", "plan", "diff", "delete", "finalize", "prune", "restore", "adopt", "rebuild", "handover", "watch"}
}

// command returns the command in a line of a history: in the model's terms, and as
// arguments.
func (w *world) command(verb string, o options) (model.Command, []string) {
	c := model.Command{
		Verb: verb, Nodes: o["node"], Forms: o["form"], Hubs: o["hub"], Label: o.one("label"),
		MaxDelete: o.one("max"), CascadeOrphan: o.one("cascade") == "orphan",
		IncludeData: o["data"] != nil, AdoptNever: o["never"] != nil, Continue: o["continue"] != nil,
	}
	if !w.served {
		c.Unseen = append(c.Unseen, model.Widget)
	}
	kind, denied := strings.CutPrefix(o.one("fault"), "deny:")
	if denied {
		c.Unseen = append(c.Unseen, kind)
	}
	var args []string
	switch verb {
	case "apply", "diff", "plan":
		args = w.withInputs(&c, verb, o)
	case "delete":
		args = append(deleted(o), "--cascade="+o.one("cascade"), "--yes", "--ignore-not-found", "--events=false")
	case "finalize":
		args = []string{"finalize", "--yes", "--events=false"}
	case "prune":
		args = []string{"orphans", "prune", "--all", "--yes"}
		if c.IncludeData {
			args = append(args, "--include-data")
		}
	case "restore":
		args = []string{"inventory", "restore", "--all"}
	case "adopt":
		args = append([]string{"orphans", "adopt", "--all", "--events=false"}, w.inputArguments(&c, o)...)
	case "rebuild":
		args = append([]string{"inventory", "rebuild", "--yes"}, w.inputArguments(&c, o)...)
	case "handover":
		args = []string{"adopt-operator", "--yes", "--operator-namespace=" + w.Namespace}
		if o["remove"] != nil {
			args = append(args, "--remove-forms", "--export-dir="+w.dir+"-export")
		}
	case "watch":
		c.Verb, c.MaxDelete, c.Watches = "apply", "100%", true
		return c, append([]string{verb}, w.inputArguments(&c, o)...)
	}
	timeout := "30s"
	if strings.HasPrefix(o.one("fault"), "pause:") {
		timeout = hangs.String() // the Leases end first
	}
	args = append(args, "--timeout="+timeout)
	if user, is := strings.CutPrefix(o.one("fault"), "as:"); is {
		args = append(args, "--as="+w.user(user))
	}
	return c, args
}

// deleted returns the targets of a delete: nodes, or else a form or hub.
func deleted(o options) []string {
	for _, what := range []string{"node", "form", "hub"} {
		if o[what] != nil {
			return append([]string{"delete", what}, o[what]...)
		}
	}
	return []string{"delete", "node", "none"}
}

// withInputs returns the arguments of a command that reads inputs.
func (w *world) withInputs(c *model.Command, verb string, o options) []string {
	args := append([]string{verb}, w.inputArguments(c, o)...)
	for _, key := range []string{"node", "form", "hub"} {
		for _, value := range o[key] {
			args = append(args, "--"+key+"="+value)
		}
	}
	if c.Label != "" {
		args = append(args, "-l", "tenant="+c.Label)
	}
	if c.AdoptNever {
		args = append(args, "--adopt=never")
	}
	if verb == "diff" {
		c.Verb = "look"
		return args
	}
	args = append(args, "--max-delete="+c.MaxDelete)
	if c.MaxDelete == "100%" {
		args = append(args, "--allow-empty")
	}
	if verb == "plan" {
		c.Verb = "look"
		return append(args, "--out="+w.planPath())
	}
	args = append(args, fmt.Sprintf("--wait=%t", o["wait"] != nil), "--yes", "--events=false")
	args = append(args, w.partArguments(c, o)...)
	if dry := o.one("dry"); dry != "" {
		c.Verb = "look"
		args = append(args, "--dry-run="+dry)
	}
	return args
}

// partArguments limit an apply to a shard, to some stages, or to a plan file.
func (w *world) partArguments(c *model.Command, o options) []string {
	var args []string
	if c.Continue {
		args = append(args, "--continue")
	}
	if stage := o.one("stage"); stage != "" {
		c.Stage, _ = strconv.Atoi(stage)
		args = append(args, "--stage="+stage)
	}
	if shard := o.one("shard"); shard != "" {
		_, _ = fmt.Sscanf(shard, "%d/%d", &c.Shard.Index, &c.Shard.Count) // the writer of the line knows the format
		args = append(args, "--shard="+shard)
	}
	if o["plan"] != nil {
		c.Plan = &w.frozen
		args = append(args, "--plan="+w.planPath())
	}
	return args
}

// inputArguments make a command read the inputs.
func (w *world) inputArguments(c *model.Command, o options) []string {
	c.Inputs = given(w.inputs, o["in"], o["without"])
	var args []string
	for _, name := range manifests(c.Inputs) {
		args = append(args, "-f", w.dir+"/"+name)
	}
	return args
}

// given returns the inputs that -f names: of these hubs, without these forms.
func given(all model.Inputs, hubs, without []string) model.Inputs {
	var in model.Inputs
	for _, hub := range all {
		if hubs != nil && !slices.Contains(hubs, hub.Name) {
			continue
		}
		hub.Forms = slices.DeleteFunc(slices.Clone(hub.Forms), func(f model.Form) bool { return slices.Contains(without, f.Name) })
		in = append(in, hub)
	}
	return in
}

// execution is the end of a command.
type execution struct {
	exit int // negative if it was killed
	said string
	// marked are objects that another tool or a person took during the command.
	marked []model.Object
	erased string    // the uid of an object that a person deleted meanwhile
	woken  time.Time // the end of a pause
	met    bool      // the fault met its request
}

// hangs is the time after which a command counts as hanging.
const hangs = 10 * time.Minute

// execute runs lynqctl, with a fault if the line has one.
func (w *world) execute(t *testing.T, args []string, fault string) execution {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangs)
	defer cancel()
	gone := make(chan struct{})
	e := execution{}
	run := w.program.start(ctx, args)
	w.proxy.SetRules((&faulty{w, args[0], run.kill, gone, &e}).rules(t, fault)...)
	w.proxy.Reset()
	e.exit, e.said = run.end()
	close(gone)
	if ctx.Err() != nil {
		t.Fatalf("it didn't end within %s:\n%s", hangs, e.said)
	}
	w.settle(t)
	return e
}

// settle waits for requests in progress, and frees the hubs of a killed run.
func (w *world) settle(t *testing.T) {
	t.Helper()
	w.await(t, "the last requests", func() (bool, error) {
		return w.proxy.Idle(), nil
	})
	w.proxy.SetRules()
	if err := w.Dynamic.Resource(leases()).Namespace(w.Namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
}

// plural returns the resource of a kind that a run may be forbidden.
func (w *world) plural(kind string) string {
	return map[string]string{model.Claim: "persistentvolumeclaims", model.Widget: "widgets." + w.group}[kind]
}

// run runs a command, and names its violations.
func (w *world) run(t *testing.T, verb string, o options) (execution, []string) {
	t.Helper()
	if verb == "watch" {
		return w.keep(t, o)
	}
	if err := w.write(); err != nil {
		t.Fatal(err)
	}
	c, args := w.command(verb, o)
	before := w.look(t)
	if verb == "plan" {
		w.thaw(t)
	}
	began := *before
	began.Objects = maps.Clone(before.Objects)
	w.frozen.Began = &began
	w.gone.See(c, before, time.Now())
	e := w.execute(t, args, o.one("fault"))
	delete(before.Objects, e.erased)
	before.See(e.marked)
	w.last = w.look(t)
	exit := e.exit
	if e.erased != "" || lags(o.one("fault")) {
		exit = -1 // the run may have passed the object already
	}
	c.At, c.Gone, c.Ended, c.Writes = time.Now(), w.gone, w.ended, w.writes()
	wrong := model.Check(c, before, w.last, exit)
	if verb == "plan" {
		w.freeze(t, c.Inputs, before)
	}
	w.gone.Forget(c, w.last, exit)
	w.ended.See(w.last)
	if strings.Contains(e.said, "panic:") || strings.Contains(e.said, "goroutine ") {
		wrong = append(wrong, "lynqctl panicked")
	}
	if e.exit > 3 && e.exit != 130 {
		wrong = append(wrong, fmt.Sprintf("there is no exit code %d", e.exit))
	}
	if o["still"] != nil {
		wrong = append(wrong, w.moved()...)
	}
	wrong = append(wrong, w.unleased(e.woken)...)
	if w.memory != nil {
		wrong = append(wrong, w.memory.Loose()...)
	}
	return e, append(wrong, w.escalated(t)...)
}

// moved names the writes of a command that had nothing to do.
func (w *world) moved() []string {
	var wrong []string
	for _, r := range w.proxy.Records() {
		if written(r) {
			wrong = append(wrong, "lynqctl wrote where nothing was left to do: "+r.Verb+" "+r.Resource+" "+r.Name)
		}
	}
	return wrong
}

// escalated reports a ClusterRoleBinding that a stranger recorded and lynqctl created.
func (w *world) escalated(t *testing.T) []string {
	t.Helper()
	if w.memory != nil {
		all := w.memory.All("rbac.authorization.k8s.io", "clusterrolebindings", "")
		if slices.ContainsFunc(all, func(o *unstructured.Unstructured) bool { return o.GetName() == w.binding() }) {
			return w.escalation()
		}
		return nil
	}
	list, err := w.Dynamic.Resource(schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"}).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if list.Items[i].GetName() == w.binding() {
			return w.escalation()
		}
	}
	return nil
}

func (w *world) escalation() []string {
	return []string{"lynqctl created ClusterRoleBinding " + w.binding() + ", which a stranger recorded"}
}

func (w *world) binding() string { return "forged-" + w.Namespace }
