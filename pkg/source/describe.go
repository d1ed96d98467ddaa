package source

import (
	"context"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// Key says whether a column identifies rows.
type Key int

// A key has only one column here, because one column of a larger key identifies no row.
const (
	NoKey Key = iota
	UniqueKey
	PrimaryKey
)

// Column describes one column of a source.
type Column struct {
	Name string
	Key  Key
	// Binary is set if the values are bytes and need not be text.
	Binary bool
}

// Describe implements Source. A file has only names, no types.
func (s *csvSource) Describe(ctx context.Context) ([]Column, error) {
	if err := stopped(ctx, s.file.name, 0); err != nil {
		return nil, err
	}
	r, _, err := s.reader()
	if err != nil {
		return nil, err
	}
	names, err := s.names(r)
	if err != nil {
		return nil, err
	}
	return named(slices.DeleteFunc(names, func(name string) bool { return name == "" })), nil
}

// Describe implements Source. It returns the keys of all rows.
func (s *jsonSource) Describe(ctx context.Context) ([]Column, error) {
	row := newJSONRow(Query{})
	if err := s.each(ctx, row, func(int64, int64, int) error { return nil }); err != nil {
		return nil, err
	}
	return named(row.names), nil
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

// named returns columns whose names alone are known.
func named(names []string) []Column {
	columns := make([]Column, len(names))
	for i, name := range names {
		columns[i].Name = name
	}
	return columns
}
