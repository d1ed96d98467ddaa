package depgraph

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/form"
)

// Format is an output format for dependency graphs.
type Format string

// Text is a tree for people. The others are the languages of Mermaid and Graphviz.
const (
	Text    Format = "text"
	Mermaid Format = "mermaid"
	DOT     Format = "dot"
)

// Write writes the dependency graph of one form after the other, wave by wave. Arrows lead
// from a resource or a wave to those that wait for it. They also lead from a form to the
// forms that depend on it (dependForms). Write omits redundant arrows. It returns an error
// of w, or for a format that it can't write. For a tree, use Lines.
func Write(w io.Writer, format Format, forms []*form.Form) error {
	var b strings.Builder
	switch format {
	case Mermaid:
		writeMermaid(&b, graphsOf(forms))
	case DOT:
		writeDOT(&b, graphsOf(forms))
	default:
		return fmt.Errorf("unknown graph format %q (use %s or %s)", format, Mermaid, DOT)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func graphsOf(forms []*form.Form) []graph {
	graphs := make([]graph, len(forms))
	names := map[string]int{}
	for _, f := range forms {
		names[f.Name]++
	}
	for i, f := range forms {
		graphs[i] = graphOf(f)
		if names[f.Name] > 1 {
			graphs[i].name = f.Key().String()
		}
		for j, other := range forms {
			if waitsFor(f, other) {
				graphs[i].after = append(graphs[i].after, j)
			}
		}
	}
	return graphs
}

// graph has one form's resources in apply order. They name each other by index.
type graph struct {
	name  string
	nodes []graphNode
	waves []graphWave // empty if there is only one wave
	// forms are the names of the forms that this one depends on. after are those that the
	// graph has too.
	forms []string
	after []int
}

// graphWave has the nodes from first up to, but not including, end.
type graphWave struct{ order, first, end int }

type graphNode struct {
	id, kind   string // kind, with the resource's condition if only some rows have it
	needs      []int
	dependents []int
}

func graphOf(f *form.Form) graph {
	resources := withCharts(f)
	g := graph{name: f.Name, nodes: make([]graphNode, len(resources))}
	for _, d := range f.DependForms {
		g.forms = append(g.forms, d.Text)
	}
	index := map[string]int{}
	for i, r := range resources {
		g.nodes[i].id, g.nodes[i].kind = r.ID, r.Kind
		if r.IncludeWhen.IsSet() {
			g.nodes[i].kind += "  (when " + r.IncludeWhen.Text + ")"
		}
		if r.Policy.PurgeOrder != nil {
			g.nodes[i].kind += fmt.Sprintf("  (purged after wave %d)", *r.Policy.PurgeOrder)
		}
		if r.Policy.Hook() {
			g.nodes[i].kind += "  (runOn: Delete)"
		}
		index[r.ID] = i
	}
	needs := make([][]int, len(resources))
	for i, r := range resources {
		for _, id := range r.DependIDs {
			if j, ok := index[id]; ok && resources[j].Policy.ApplyOrder == r.Policy.ApplyOrder {
				needs[i] = append(needs[i], j) // resources of an earlier wave come first anyway
			}
		}
	}
	g.waves = wavesOf(resources)
	for i, reduced := range reduce(needs, func(i int) bool { return resources[i].IncludeWhen.IsSet() }) {
		g.nodes[i].needs = reduced
		for _, j := range reduced {
			g.nodes[j].dependents = append(g.nodes[j].dependents, i)
		}
	}
	return g
}

// withCharts returns the resources of a form, and one for each chart, which stands for all of its
// objects. Some of these may have waves of their own.
func withCharts(f *form.Form) []*form.Resource {
	resources := slices.Clone(f.Resources)
	for _, c := range f.Charts {
		kind := strings.TrimSpace("chart " + c.Opened.Name + " " + c.Opened.Version)
		resources = append(resources, &form.Resource{Pos: c.Pos, ID: c.ID, Kind: kind, IncludeWhen: c.IncludeWhen, DependIDs: c.DependIDs})
	}
	slices.SortStableFunc(resources, func(a, b *form.Resource) int { return a.Policy.ApplyOrder - b.Policy.ApplyOrder })
	return resources
}

// waitsFor reports whether nodes of a form wait for those of another form.
func waitsFor(f, other *form.Form) bool {
	return f.HubID == other.HubID && slices.ContainsFunc(f.DependForms, func(d form.Text) bool { return d.Text == other.Name })
}

// wavesOf returns the waves of a form's resources. It returns none if there is only one.
func wavesOf(resources []*form.Resource) []graphWave {
	var waves []graphWave
	for i, r := range resources {
		if i == 0 || r.Policy.ApplyOrder != resources[i-1].Policy.ApplyOrder {
			waves = append(waves, graphWave{order: r.Policy.ApplyOrder, first: i})
		}
		waves[len(waves)-1].end = i + 1
	}
	if len(waves) < 2 {
		return nil
	}
	return waves
}

// roots returns the nodes from first up to end without dependencies.
func (g *graph) roots(first, end int) []int {
	var roots []int
	for i := first; i < end; i++ {
		if len(g.nodes[i].needs) == 0 {
			roots = append(roots, i)
		}
	}
	return roots
}

// reduce removes redundant dependencies. If a needs b and b needs c, it removes the one
// from a to c. It keeps this one if only some rows have b. Each number needs only smaller
// ones.
func reduce(needs [][]int, conditional func(int) bool) [][]int {
	reduced := make([][]int, len(needs))
	all := make([]map[int]bool, len(needs)) // all direct and indirect dependencies
	for i, direct := range needs {
		all[i] = map[int]bool{}
		for _, j := range direct {
			if !conditional(j) {
				maps.Copy(all[i], all[j])
			}
		}
		for _, j := range direct {
			if !all[i][j] {
				all[i][j] = true
				reduced[i] = append(reduced[i], j)
			}
		}
	}
	return reduced
}

// Line is a line of a tree with its depth.
type Line struct {
	Depth int
	Text  string
}

// Lines returns the graphs of forms as trees. Below each resource are those that wait for
// it. If a resource has several dependencies, its subtree is below the first one. The
// others show only its name.
func Lines(forms []*form.Form) []Line {
	var lines []Line
	for _, g := range graphsOf(forms) {
		heading := g.name
		if len(g.forms) > 0 {
			heading += "  (after " + strings.Join(g.forms, ", ") + ")"
		}
		t := tree{graph: g, lines: append(lines, Line{0, heading}), drawn: make([]bool, len(g.nodes))}
		if len(g.waves) == 0 {
			t.add(t.roots(0, len(g.nodes)), 1)
		}
		for _, w := range g.waves {
			t.lines = append(t.lines, Line{1, fmt.Sprintf("wave %d", w.order)})
			t.add(t.roots(w.first, w.end), 2)
		}
		lines = t.lines
	}
	return lines
}

// tree builds the lines of a graph.
type tree struct {
	graph
	lines []Line
	drawn []bool
}

func (t *tree) add(nodes []int, depth int) {
	for _, n := range nodes {
		text := t.nodes[n].id + "  " + t.nodes[n].kind
		if t.drawn[n] {
			t.lines = append(t.lines, Line{depth, text + "  (see above)"})
			continue
		}
		t.drawn[n] = true
		t.lines = append(t.lines, Line{depth, text})
		t.add(t.nodes[n].dependents, depth+1)
	}
}

func writeMermaid(b *strings.Builder, graphs []graph) {
	b.WriteString("flowchart LR\n")
	escape := strings.NewReplacer(`"`, "#quot;", "#", "#35;", "&", "#amp;", "<", "#lt;", ">", "#gt;", "`", "#96;").Replace
	for i, g := range graphs {
		fmt.Fprintf(b, "  subgraph f%d[\"%s\"]\n", i, escape(g.name))
		g.eachNode(func(w, j int) {
			if w >= 0 && j == g.waves[w].first {
				fmt.Fprintf(b, "    subgraph f%dw%d[\"wave %d\"]\n", i, w, g.waves[w].order)
			}
			fmt.Fprintf(b, "    f%dr%d[\"%s<br/>%s\"]\n", i, j, escape(g.nodes[j].id), escape(g.nodes[j].kind))
			if w >= 0 && j == g.waves[w].end-1 {
				b.WriteString("    end\n")
			}
		})
		b.WriteString("  end\n")
		for w := 1; w < len(g.waves); w++ {
			fmt.Fprintf(b, "  f%dw%d --> f%dw%d\n", i, w-1, i, w)
		}
		for j, n := range g.nodes {
			for _, d := range n.dependents {
				fmt.Fprintf(b, "  f%dr%d --> f%dr%d\n", i, j, i, d)
			}
		}
	}
	for i, g := range graphs {
		for _, j := range g.after {
			fmt.Fprintf(b, "  f%d --> f%d\n", j, i)
		}
	}
}

// eachNode calls do for all nodes in order, with the index of their wave. The index is -1
// if there is only one wave.
func (g *graph) eachNode(do func(wave, node int)) {
	wave := -1
	for i := range g.nodes {
		if wave+1 < len(g.waves) && g.waves[wave+1].first == i {
			wave++
		}
		do(wave, i)
	}
}

func writeDOT(b *strings.Builder, graphs []graph) {
	b.WriteString("digraph lynq {\n  rankdir=LR;\n  node [shape=box];\n")
	if slices.ContainsFunc(graphs, func(g graph) bool { return len(g.waves)+len(g.after) > 0 }) {
		b.WriteString("  compound=true;\n")
	}
	escape := strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace
	for i, g := range graphs {
		fmt.Fprintf(b, "  subgraph cluster_%d {\n    label=\"%s\";\n", i, escape(g.name))
		g.eachNode(func(w, j int) {
			if w >= 0 && j == g.waves[w].first {
				fmt.Fprintf(b, "    subgraph cluster_%d_%d {\n    label=\"wave %d\";\n", i, w, g.waves[w].order)
			}
			fmt.Fprintf(b, "    f%dr%d [label=\"%s\\n%s\"];\n", i, j, escape(g.nodes[j].id), escape(g.nodes[j].kind))
			if w >= 0 && j == g.waves[w].end-1 {
				b.WriteString("    }\n")
			}
		})
		b.WriteString("  }\n")
		for w := 1; w < len(g.waves); w++ {
			fmt.Fprintf(b, "  f%dr%d -> f%dr%d [ltail=cluster_%d_%d, lhead=cluster_%d_%d];\n", i, g.waves[w].first-1, i, g.waves[w].first, i, w-1, i, w)
		}
		for j, n := range g.nodes {
			for _, d := range n.dependents {
				fmt.Fprintf(b, "  f%dr%d -> f%dr%d;\n", i, j, i, d)
			}
		}
	}
	for i, g := range graphs {
		for _, j := range g.after {
			if len(g.nodes) > 0 && len(graphs[j].nodes) > 0 {
				fmt.Fprintf(b, "  f%dr%d -> f%dr0 [ltail=cluster_%d, lhead=cluster_%d];\n", j, len(graphs[j].nodes)-1, i, j, i)
			}
		}
	}
	b.WriteString("}\n")
}
