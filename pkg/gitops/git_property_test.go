package gitops

import (
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lynqctl/lynqctl/pkg/apply/decide"
	"github.com/lynqctl/lynqctl/pkg/apply/plan"
	"github.com/lynqctl/lynqctl/pkg/gitops/index"
	"github.com/lynqctl/lynqctl/pkg/gitops/policy"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/limits"
)

// repository is a history whose tree is in a Git repository. Rows and forms are outside of
// it, as in practice.
type repository struct {
	*history
	*site
	t        *testing.T
	root     string
	a        Arrangement
	at       string
	renames  bool // Git detects renames
	minute   int  // of Git's clock
	careless bool // somebody restores earlier files, see restore
	sum      *attacked
}

// firstCareless is the first seed of a history with restored files. Those before draw what
// they drew without them, so that the named ones repeat what they found.
const firstCareless = 1000

// attacked counts what histories did.
type attacked struct{ runs, refused, killed, left, merges, conflicts, restored, forced, suspended int }

// newRepository begins a history with a commit.
func newRepository(t *testing.T, seed uint64, sum *attacked) *repository {
	t.Helper()
	root := t.TempDir()
	g := &repository{history: newHistory(seed, policy.Plain), site: &site{TB: t, dir: filepath.Join(root, "tree"), quick: true}, t: t, root: root, sum: sum}
	g.careless = seed >= firstCareless
	g.target = []policy.Target{policy.Plain, policy.Argo, policy.Flux}[g.IntN(3)]
	g.renames = g.IntN(2) == 0
	if g.IntN(2) == 0 { // two hubs of one name, one of them without a namespace
		g.hubs["crm"], g.hubs["erp"] = lynq.HubKey{Name: "crm"}, lynq.HubKey{Namespace: "eu", Name: "crm"}
	}
	g.arrange()
	g.git("init", "-q", "--template=", "-b", "main")
	attributes := "* -text\nlynqctl-index.jsonl merge=union linguist-generated\nkustomization.yaml merge=union\n"
	if err := os.WriteFile(filepath.Join(root, ".gitattributes"), []byte(attributes), 0o600); err != nil {
		t.Fatal(err)
	}
	g.commit()
	return g
}

func (g *repository) arrange() {
	g.a = Arrangement{PerNode: g.IntN(3) == 0, Spread: g.IntN(3) == 0}
}

// git runs Git, and reports whether it succeeded.
func (g *repository) git(args ...string) bool {
	g.t.Helper()
	_, err := g.output(args...)
	return err == nil
}

// output runs Git, and returns what it prints. Each command is a minute later than the last
// one, so that a seed's commits have the same ids in each run.
func (g *repository) output(args ...string) (string, error) {
	if !g.renames {
		args = append([]string{"-c", "merge.renames=false", "-c", "diff.renames=false"}, args...)
	}
	g.minute++
	date := fmt.Sprintf("%d +0000", g.now.Unix()+int64(60*g.minute))
	c := exec.Command("git", args...)
	c.Dir = g.root
	c.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_EDITOR=true", "LC_ALL=C")
	out, err := c.Output()
	return string(out), err
}

func (g *repository) commit() {
	g.t.Helper()
	if !g.git("add", "-A") || !g.git("commit", "-q", "--allow-empty", "-m", "run") {
		g.t.Fatalf("%s: git doesn't commit", g.at)
	}
}

// resolve takes one side of each conflict, until Git is done with what it does.
func (g *repository) resolve(operation string) {
	g.t.Helper()
	for range 30 {
		out, err := g.output("diff", "--name-only", "--diff-filter=U")
		if err != nil {
			g.t.Fatal(err)
		}
		for _, file := range strings.Fields(out) {
			g.sum.conflicts++
			side := []string{"--ours", "--theirs"}[g.IntN(2)]
			if !g.git("checkout", side, "--", file) { // that side deleted it
				g.git("rm", "-q", "-f", "--", file)
			}
		}
		g.choose()
		g.git("add", "-A")
		switch {
		case operation == "merge":
			g.git("commit", "-q", "--no-edit", "--allow-empty")
		case !g.git(operation, "--continue"):
			if out, _ := g.output("diff", "--name-only", "--diff-filter=U"); out == "" {
				g.git(operation, "--skip")
			}
		}
		if g.idle() {
			return
		}
	}
	g.t.Fatalf("%s: git %s doesn't end", g.at, operation)
}

// choose takes one side of each conflict that Git writes into a file. A conflict of two
// renames is in both versions of the file.
func (g *repository) choose() {
	g.t.Helper()
	files := g.treeFiles()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		if !strings.Contains("\n"+text, "\n<<<<<<<") {
			continue
		}
		var lines []string
		side, take := 0, 1+g.IntN(2)
		for line := range strings.Lines(text) {
			switch {
			case strings.HasPrefix(line, "<<<<<<<"):
				side = 1
			case strings.HasPrefix(line, "=======") && side == 1:
				side = 2
			case strings.HasPrefix(line, ">>>>>>>"):
				side = 0
			case side == 0 || side == take:
				lines = append(lines, line)
			}
		}
		g.write(name, strings.Join(lines, ""))
	}
}

// idle reports whether Git is in no operation.
func (g *repository) idle() bool {
	for _, name := range []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"} {
		if _, err := os.Stat(filepath.Join(g.root, ".git", name)); err == nil {
			return false
		}
	}
	return true
}

// operate changes the tree with Git alone.
func (g *repository) operate() {
	g.t.Helper()
	g.sum.merges++
	g.git("checkout", "-q", "-B", "work", fmt.Sprintf("main~%d", g.IntN(2)))
	for range 1 + g.IntN(2) {
		g.turn()
	}
	g.git("checkout", "-q", "main")
	if g.IntN(3) > 0 {
		g.turn()
	}
	var done bool
	operation := []string{"merge", "rebase", "cherry-pick", "revert"}[g.IntN(4)]
	switch operation {
	case "merge":
		done = g.git("merge", "-q", "--no-edit", "work")
	case "rebase":
		g.git("checkout", "-q", "work")
		done = g.git("rebase", "-q", "main")
	case "cherry-pick":
		done = g.git("cherry-pick", "--allow-empty", "--keep-redundant-commits", "work")
	case "revert":
		done = g.git("revert", "--no-edit", fmt.Sprintf("HEAD~%d", g.IntN(2)))
	}
	if !done && !g.idle() {
		g.resolve(operation)
	}
	if operation == "rebase" {
		g.git("checkout", "-q", "-B", "main", "work")
	}
	g.commit()
}

// restore takes the index, a list, a file or a folder from an earlier commit, as somebody does
// who regrets a change and knows nothing of indexes.
func (g *repository) restore() {
	g.t.Helper()
	if !g.careless || g.IntN(3) > 0 {
		return
	}
	for range 1 + g.IntN(2) {
		earlier := fmt.Sprintf("HEAD~%d", 1+g.IntN(4))
		out, err := g.output("ls-tree", "-r", "--name-only", earlier, "tree")
		files := strings.Fields(out)
		if err != nil || len(files) == 0 {
			return // it had no tree
		}
		what := files[g.IntN(len(files))]
		switch g.IntN(6) {
		case 0, 1:
			what = path.Join("tree", index.FileName)
		case 2:
			what = path.Join("tree", kustomizationFile)
		case 3, 4:
			what = path.Dir(what)
		}
		overlay := []string{"--overlay", "--no-overlay"}[g.IntN(2)] // keeps or removes what came later
		if g.git("checkout", "-q", overlay, earlier, "--", what) {
			g.sum.restored++
		}
	}
	if g.IntN(2) == 0 {
		g.commit()
	}
}

// turn changes rows, makes a run, and commits the tree.
func (g *repository) turn() {
	g.t.Helper()
	g.restore()
	g.change()
	g.changeForms()
	if g.IntN(6) == 0 {
		g.arrange()
	}
	g.suspendSome()
	in := g.history.run()
	in.Arrangement = g.a
	if g.IntN(4) == 0 {
		g.attempt(in, 1+g.IntN(40))
		if g.IntN(2) == 0 {
			g.change()
		}
		if g.IntN(3) == 0 {
			g.commit()
		}
		in = g.history.run()
		in.Arrangement = g.a
	}
	g.attempt(in, 0)
	g.commit()
}

// suspendSome suspends or resumes a node, and maybe commits that.
func (g *repository) suspendSome() {
	g.t.Helper()
	x := g.indexNow()
	if !g.suspends || g.IntN(2) == 0 || x == nil || len(x.Nodes()) == 0 {
		return
	}
	g.site.suspend(x.Nodes()[g.IntN(len(x.Nodes()))].Name, g.suspension())
	g.sum.suspended++
	if g.IntN(2) == 0 {
		g.commit()
	}
}

// suspendedFiles returns the files of the nodes that are suspended now.
func (g *repository) suspendedFiles() map[string]string {
	x, found := g.indexNow(), map[string]string{}
	if x == nil || len(x.Suspended) == 0 {
		return nil
	}
	all := g.treeFiles()
	for _, s := range x.Suspended {
		for i := range x.Entries {
			if e := &x.Entries[i]; e.Node == s.Node && !s.Ended(g.now) && !isApp(e.Path) {
				found[e.Path] = all[e.Path]
			}
		}
	}
	return found
}

// built returns the objects to which a tree's lists lead, and why kustomize can't build the
// tree, or "".
func built(t *testing.T, files map[string]string) (objects map[string]treeObject, broken string) {
	t.Helper()
	var texts []string
	seen := map[string]bool{}
	var follow func(folder string)
	follow = func(folder string) {
		list, there := files[path.Join(folder, kustomizationFile)]
		if !there {
			broken = "no list in " + folder
		}
		names, _ := listedIn([]byte(list))
		for _, name := range names {
			at := path.Join(folder, name)
			if seen[at] {
				broken = "twice: " + at
				continue
			}
			seen[at] = true
			if text, isFile := files[at]; !isFile {
				follow(at)
			} else {
				for _, d := range documents([]byte(text)) {
					texts = append(texts, string(d))
				}
			}
		}
	}
	if files[kustomizationFile] != "" {
		follow(".")
	}
	if objects = objectsIn(t, texts); len(objects) < len(texts) {
		broken = "an object in two files"
	}
	return objects, broken
}

// attempt makes a run, unless a guard refuses it. With a step, the run is killed there.
func (g *repository) attempt(in *Input, step int) *Plan {
	g.t.Helper()
	before, wasBroken := built(g.t, g.treeFiles())
	strict := *in
	strict.Limits, strict.Nodes = decide.Limits{}, cloned(in.Nodes)
	_, p := g.plan(&strict)
	counted, warned := countedBy(Refuse(&strict, p)), ""
	if g.force {
		warned = g.warned(&strict)
	}
	nodes := in.Nodes
	in.Nodes = cloned(nodes)
	d, p := g.plan(in)
	g.sum.runs++
	suspended := g.suspendedFiles()
	defer func() {
		now := g.treeFiles()
		for file, content := range suspended {
			if content != "" && now[file] != content { // a lost list may come back, so that the tree has the node's objects
				g.t.Errorf("%s: %s of a suspended node changes", g.at, file)
			}
		}
	}()
	if len(Refuse(in, p)) > 0 {
		g.sum.refused++
		return nil
	}
	if in.Nodes = cloned(nodes); step > 0 {
		if g.killed(in, step) {
			g.sum.killed++
		}
		return p
	}
	g.site.carryOut(d, p)
	after, broken := built(g.t, g.treeFiles())
	if broken != "" && wasBroken == "" {
		g.t.Errorf("%s: the run breaks the tree: %s", g.at, broken)
	}
	g.check(before, after, counted, func(name string) bool {
		return strings.Contains(warned, "no guard would count") || strings.Contains(warned, name+" would leave")
	})
	return p
}

// countedBy returns how many nodes the guards count in refusals of a run without a limit.
func countedBy(refusals []plan.Refusal) (nodes int) {
	for i := range refusals {
		if refusals[i].Guard != plan.GuardMaxDelete {
			return math.MaxInt // all of a hub's nodes leave, or the run may not be made at all
		}
		var n int
		_, _ = fmt.Sscanf(refusals[i].What, "%d of", &n)
		nodes += n
	}
	return nodes
}

// warned returns what the same run says without --force. There it names what no guard counts.
func (g *repository) warned(in *Input) string {
	g.t.Helper()
	g.force = false
	defer func() { g.force = true }()
	_, p := g.plan(in)
	var texts []string
	for _, r := range Refuse(in, p) {
		texts = append(texts, r.What)
	}
	for i := range p.Steps {
		texts = append(texts, p.Steps[i].Why)
	}
	return strings.Join(texts, "\n")
}

func (g *repository) treeFiles() map[string]string {
	if _, err := os.Stat(g.dir); err != nil {
		return nil
	}
	return g.files()
}

// check compares a tree before and after a run. An object that an active row renders stays,
// and an object with data doesn't leave unless a guard counts its node, or the run told it.
func (g *repository) check(before, after map[string]treeObject, counted int, told func(name string) bool) {
	g.t.Helper()
	losers := map[string]string{} // a lost object of each node
	active := map[string]string{}
	for _, n := range g.nodes() {
		for _, o := range n.Objects {
			active[o.Kind+"/"+o.Namespace+"/"+o.Name] = n.Name
		}
		for _, ref := range n.Claims.Refs {
			active[ref.Kind+"/"+ref.Namespace+"/"+ref.Name] = n.Name
		}
	}
	for name, o := range before {
		if _, there := after[name]; there || o.retained {
			continue
		}
		g.sum.left++
		if n := active[name]; n != "" {
			g.t.Errorf("%s: %s of node %s leaves the tree, and node %s renders it", g.at, name, o.node, n)
		} else if o.data && !told(name) {
			losers[o.node] = name
		}
	}
	if len(losers) > counted {
		g.t.Errorf("%s: data of %d nodes leaves the tree, and guards count %d: %v", g.at, len(losers), counted, losers)
	}
}

// converge makes complete runs. The second one must not change anything.
func (g *repository) converge() {
	g.t.Helper()
	for _, r := range g.rows {
		r.failed, r.waits = "", ""
	}
	g.excluded = ""
	clear(g.grace)
	if x := g.indexNow(); g.suspends && x != nil {
		for _, s := range x.Suspended {
			g.site.suspend(s.Node.Name, nil)
		}
	}
	all := g.whole()
	p := g.attempt(all, 0)
	if p == nil || p.Count(ActionConflict) > 0 {
		g.sum.forced++
		if g.force = true; os.Getenv("LYNQCTL_TREE_FORCED") != "" {
			g.t.Logf("%s: forced: %v", g.at, g.why())
		}
		all = g.whole()
		all.Force = true
		if p = g.attempt(all, 0); p == nil {
			g.t.Errorf("%s: refused with --force, too: %v", g.at, g.why())
			return
		}
	}
	again := g.whole()
	_, p = g.plan(again)
	if left := actions(p); len(left) > 0 || len(Refuse(again, p)) > 0 {
		g.t.Errorf("%s: the tree doesn't converge: %v %v", g.at, left, Refuse(again, p))
	}
	after, broken := built(g.t, g.treeFiles())
	if broken != "" {
		g.t.Errorf("%s: the tree doesn't build: %s", g.at, broken)
	}
	want := 0
	for _, n := range g.nodes() {
		for _, o := range n.Objects {
			want++
			if got := after[o.Kind+"/"+o.Namespace+"/"+o.Name]; got.node != n.Namespace+"."+n.Name {
				g.t.Errorf("%s: %s of node %s is of node %q", g.at, o.Full(), n.Name, got.node)
			}
		}
	}
	if len(after) != want {
		g.t.Errorf("%s: the tree has %d objects instead of %d", g.at, len(after), want)
	}
	g.force = false
}

// whole returns a run on everything that may delete everything.
func (g *repository) whole() *Input {
	in := g.part(false)
	in.Arrangement, in.Limits = g.a, decide.Limits{AllowEmpty: true, MaxDelete: limits.MaxDelete{Nodes: 1000}}
	return in
}

// why returns the refusals and conflicts of a complete run.
func (g *repository) why() (all []string) {
	in := g.whole()
	in.Force = g.force
	_, p := g.plan(in)
	for _, r := range Refuse(in, p) {
		all = append(all, RefusalText(&r))
	}
	for _, s := range p.Of(ActionConflict) {
		all = append(all, s.Path+": "+s.Why)
	}
	return all
}

// survive makes a seed's history, and returns the id of its last commit.
func survive(t *testing.T, seed uint64, sum *attacked) string {
	t.Helper()
	g := newRepository(t, seed, sum)
	for step := range 5 {
		g.at = fmt.Sprintf("seed %d, step %d", seed, step)
		if step > 0 && g.IntN(2) == 0 {
			g.operate()
		}
		g.turn()
		if g.IntN(4) == 0 {
			g.converge()
			g.commit()
		}
	}
	g.converge()
	g.commit()
	id, err := g.output("rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestGitHistoryRepeats makes a history twice. All files and commits are the same, so that
// the seed of a failed history repeats it.
func TestGitHistoryRepeats(t *testing.T) {
	var sum attacked
	if once, again := survive(t, 5, &sum), survive(t, 5, &sum); once != again || sum.killed == 0 {
		t.Errorf("commits %s and %s after %d kills", once, again, sum.killed)
	}
}

// TestTreeSurvivesGit makes random runs on a tree in a Git repository, some of them killed
// or narrowed, and merges, rebases, cherry-picks and reverts their commits. From seed 1000 on,
// somebody also restores earlier files. LYNQCTL_TREE_GIT says how many histories, and
// LYNQCTL_TREE_SEED the first seed.
//
// It isn't parallel, because Git's processes would hold the locks of other tests' trees for
// a moment.
func TestTreeSurvivesGit(t *testing.T) {
	histories, first := number(t, "LYNQCTL_TREE_GIT", 4), number(t, "LYNQCTL_TREE_SEED", 0)
	var sum attacked
	seeds := []uint64{180, 276, 282, 298, 338, 430, 478, 482, 2433, firstSuspended, firstSuspended + 1} // the first nine once found a tree that doesn't build, or a loss
	for seed := range histories {
		seeds = append(seeds, uint64(first+seed))
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			survive(t, seed, &sum)
		})
	}
	t.Logf("%d histories: %+v", histories, sum)
}
