package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/bounded"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
)

// yamlSource reads a YAML list of mappings. Unlike other sources, it reads the whole file
// into memory.
type yamlSource struct {
	fileSource
	start int64
	items string // the field that has the list; "" if nothing is around it
}

// Records implements Source.
func (s *yamlSource) Records(ctx context.Context, q Query) iter.Seq2[lynq.Row, error] {
	return stream(func(emit func(lynq.Row) bool) error {
		b, err := newBuilder(q, fixFileText)
		if err != nil {
			return err
		}
		before, err := s.file.version()
		if err != nil {
			return err
		}
		rows, err := s.rows(q)
		if err != nil {
			return err
		}
		if err := s.file.unchanged(before); err != nil {
			return err
		}
		slices.SortStableFunc(rows, func(x, y yamlRow) int { return strings.Compare(x.values[b.uid], y.values[b.uid]) })
		for i, row := range rows {
			if err := stopped(ctx, s.file.name, i); err != nil {
				return err
			}
			b.rec = lynq.Row{Values: row.values, Null: row.null, Line: row.line}
			rec, err := b.finish(s.Place)
			if err != nil {
				return err
			}
			if !emit(rec) {
				return nil
			}
		}
		return nil
	})
}

// yamlRow is the record of one row.
type yamlRow struct {
	values []string
	null   []bool
	line   int
}

// rows reads all rows. It returns all problems at once.
func (s *yamlSource) rows(q Query) ([]yamlRow, error) {
	list, err := s.list()
	if err != nil {
		return nil, err
	}
	var problems lynq.Problems
	var names []string
	known := map[string]bool{}
	rows := make([]yamlRow, 0, len(list.Content))
	for _, item := range list.Content {
		members := yamlMembers{file: s.file.name, values: map[string]*yaml.Node{}, done: map[*yaml.Node]bool{}, problems: &problems}
		members.collect(item)
		for _, name := range members.names {
			if !known[name] {
				known[name] = true
				names = append(names, name)
			}
		}
		rows = append(rows, members.row(q, item.Line))
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	if len(rows) > 0 {
		if _, err := checkColumns(s.file.name, q, names, sameName); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// list parses the file, which must have one document with a list.
func (s *yamlSource) list() (*yaml.Node, error) {
	const most = 64 << 20
	text, err := bounded.ReadAll(&fileReader{file: s.file, offset: s.start}, most)
	if err != nil {
		return nil, &Error{Place: s.file.name, What: "it can't be read", Fix: "write long lists as JSON, one object a line", Err: err}
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var document, more yaml.Node
	if err := d.Decode(&document); err != nil && !errors.Is(err, io.EOF) {
		return nil, s.syntax(string(text), err)
	}
	if len(document.Content) != 1 {
		return nil, s.notList(&document)
	}
	rows, err := s.within(document.Content[0])
	if err != nil {
		return nil, err
	}
	if rows.Kind != yaml.SequenceNode {
		return nil, s.notList(rows)
	}
	if err := d.Decode(&more); err == nil {
		return nil, &Error{Place: s.file.at(more.Line), What: "the file has a second document", Fix: "put all rows into one list"}
	} else if !errors.Is(err, io.EOF) {
		return nil, s.syntax(string(text), err)
	}
	return rows, nil
}

// lists finds the lists of mappings in a mapping.
func (s *yamlSource) lists() (l lists) {
	var document yaml.Node
	if err := yaml.NewDecoder(&fileReader{file: s.file, offset: s.start}).Decode(&document); err != nil || len(document.Content) != 1 {
		return l
	}
	l.gather(document.Content[0], nil)
	return l
}

// gather takes the lists of a mapping at a path.
func (l *lists) gather(node *yaml.Node, path []string) {
	for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i].Value, resolveAlias(node.Content[i+1])
		at := append(slices.Clone(path), name)
		if len(path) == 0 {
			l.members = append(l.members, name)
		}
		switch {
		case value.Kind == yaml.SequenceNode && len(value.Content) > 0 && resolveAlias(value.Content[0]).Kind == yaml.MappingNode:
			l.fields = append(l.fields, strings.Join(at, "."))
		case len(at) < deepestList:
			l.gather(value, at)
		}
	}
}

// yamlMembers gathers the members of a row, or of an object in its values.
type yamlMembers struct {
	file     string
	inner    bool // the members are those of an object in a value
	names    []string
	values   map[string]*yaml.Node
	done     map[*yaml.Node]bool // an anchor may contain itself, or be merged twice
	problems *lynq.Problems
}

// collect takes the members of node. A mapping's own members win over those of merged
// mappings.
func (m *yamlMembers) collect(node *yaml.Node) {
	pos := lynq.Pos{File: m.file, Line: node.Line}
	node = resolveAlias(node)
	if node.Kind != yaml.MappingNode {
		m.problems.Add(pos, `write it as "- column: value"; the key << takes mappings only`, "the row is not a mapping")
		return
	}
	if m.done[node] {
		return
	}
	m.done[node] = true
	own := map[string]bool{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		pos := lynq.Pos{File: m.file, Line: key.Line}
		switch {
		case key.ShortTag() == "!!merge":
			merged = append(merged, mergedNodes(value)...)
		case key.Kind != yaml.ScalarNode, key.ShortTag() == yaml.NodeTagNull, m.inner && key.ShortTag() != yaml.NodeTagString:
			m.problems.Add(pos, "write the key in quotes", "a key is not a text")
		case own[key.Value]:
			m.problems.Add(pos, "remove one", "key %s appears twice in one %s", phrase.Quote(key.Value), map[bool]string{false: "row", true: "object"}[m.inner])
		default:
			own[key.Value] = true
			if _, has := m.values[key.Value]; !has {
				m.names = append(m.names, key.Value)
				m.values[key.Value] = value
			}
		}
	}
	for _, node := range merged {
		m.collect(node)
	}
}

// mergedNodes returns the mappings that a merge key's value names.
func mergedNodes(value *yaml.Node) []*yaml.Node {
	if value = resolveAlias(value); value.Kind == yaml.SequenceNode {
		return value.Content
	}
	return []*yaml.Node{value}
}

func resolveAlias(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// row returns the record of the gathered members.
func (m *yamlMembers) row(q Query, line int) yamlRow {
	row := yamlRow{values: make([]string, len(q.Columns)), null: make([]bool, len(q.Columns)), line: line}
	for i, name := range q.Columns {
		value, ok := m.values[name]
		if !ok {
			row.null[i] = true
			continue
		}
		row.values[i], row.null[i] = m.yamlText(value)
	}
	return row
}

// Describe implements Source. It returns the keys of all rows.
func (s *yamlSource) Describe(context.Context) ([]Column, error) {
	list, err := s.list()
	if err != nil {
		return nil, err
	}
	var problems lynq.Problems
	var names []string
	for _, item := range list.Content {
		members := yamlMembers{file: s.file.name, values: map[string]*yaml.Node{}, done: map[*yaml.Node]bool{}, problems: &problems}
		members.collect(item)
		for _, name := range members.names {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return named(names), nil
}
