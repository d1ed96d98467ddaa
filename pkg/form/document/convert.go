package document

import (
	"fmt"
	"strconv"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/lynqctl/lynqctl/pkg/lynq"
)

// These limits bound the size of a document, because aliases let a few lines stand for
// billions of nodes.
const (
	maxDepth    = 100
	maxExpanded = 100_000
)

// converter turns the YAML nodes of one document into Values.
type converter struct {
	stream   *Stream // the stream that has the document
	file     string
	rendered bool // the file has other lines
	expanded int  // number of nodes that aliases repeat
	tooLarge bool // already reported; all further nodes become null
}

// value converts a node. It never returns nil. It reports a bad node and returns null.
func (c *converter) value(n *yaml.Node, depth int, aliased bool) *Value {
	pos := c.pos(n)
	if c.tooLarge || !c.within(pos, depth, aliased) {
		return &Value{Pos: pos}
	}
	switch n.Kind {
	case yaml.AliasNode:
		return c.value(n.Alias, depth+1, true)
	case yaml.ScalarNode:
		return c.scalar(n)
	case yaml.SequenceNode:
		c.collectionTag(n, yaml.NodeTagSeq)
		v := &Value{Kind: List, Pos: pos}
		for _, item := range n.Content {
			v.Items = append(v.Items, c.value(item, depth+1, aliased))
		}
		return v
	case yaml.MappingNode:
		c.collectionTag(n, yaml.NodeTagMap)
		return c.mapping(n, depth, aliased)
	}
	c.stream.Problems.Add(pos, "", "this is not a YAML value")
	return &Value{Pos: pos}
}

func (c *converter) pos(n *yaml.Node) lynq.Pos {
	if c.rendered {
		return lynq.Pos{File: c.file}
	}
	return lynq.Pos{File: c.file, Line: n.Line}
}

// within checks the limits. It reports one violation per document.
func (c *converter) within(pos lynq.Pos, depth int, aliased bool) bool {
	if aliased {
		c.expanded++
	}
	switch {
	case depth > maxDepth:
		c.stream.Problems.Add(pos, "flatten it; an alias may not contain itself", "nested deeper than %d levels", maxDepth)
	case c.expanded > maxExpanded:
		c.stream.Problems.Add(pos, "write it without aliases", "aliases expand to more than %d values", maxExpanded)
	default:
		return true
	}
	c.tooLarge = true
	return false
}

// collectionTag refuses explicit tags on lists and mappings, except the usual one.
func (c *converter) collectionTag(n *yaml.Node, usual string) {
	if n.Style&yaml.TaggedStyle != 0 && n.ShortTag() != usual {
		c.stream.Problems.Add(c.pos(n), "remove the tag", "tag %s is not supported", n.Tag)
	}
}

func (c *converter) scalar(n *yaml.Node) *Value {
	pos := c.pos(n)
	v := Value{Kind: String, Str: n.Value}
	var err error
	switch {
	case n.Style&yaml.TaggedStyle != 0:
		v, err = c.tagged(n)
	case !isQuoted(n):
		v, err = plainScalar(n.Value)
		if err != nil {
			c.stream.Problems.Add(pos, "quote it", "%v", err)
		}
	}
	if err != nil {
		v = Value{}
	}
	v.Pos = pos
	return &v
}

// tagged resolves a scalar with an explicit tag, and returns what is wrong with it.
func (c *converter) tagged(n *yaml.Node) (Value, error) {
	switch tag := n.ShortTag(); tag {
	case "!!str", "!":
		return Value{Kind: String, Str: n.Value}, nil
	case "!!int", "!!float", "!!bool", "!!null", "!!timestamp":
		v, err := taggedScalar(tag, n.Value)
		if err != nil {
			c.stream.Problems.Add(c.pos(n), "remove the tag", "this is not a value for tag %s", tag)
		}
		return v, err
	}
	c.stream.Problems.Add(c.pos(n), "remove the tag", "tag %s is not supported", n.Tag)
	return Value{}, nil
}

func isQuoted(n *yaml.Node) bool {
	return n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
}

// mapping converts a mapping. Merge keys follow kubectl's library, which sets keys in file
// order. So << overrides earlier keys, and later keys override it.
func (c *converter) mapping(n *yaml.Node, depth int, aliased bool) *Value {
	v := &Value{Kind: Map, Pos: c.pos(n)}
	at := make(map[string]int, len(n.Content)/2)
	written := make(map[string]lynq.Pos, len(n.Content)/2)
	set := func(f Field) {
		if i, ok := at[f.Key]; ok {
			v.Fields[i] = f
			return
		}
		at[f.Key] = len(v.Fields)
		v.Fields = append(v.Fields, f)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].ShortTag() == yaml.MergeTag {
			if c.twice(written, n.Content[i].Value, c.pos(n.Content[i])) {
				continue
			}
			for _, f := range c.merged(n.Content[i+1], depth) {
				set(f)
			}
			continue
		}
		key, ok := c.key(n.Content[i])
		value := c.value(n.Content[i+1], depth+1, aliased)
		if !ok {
			continue
		}
		f := Field{Key: key, Pos: c.pos(n.Content[i]), Value: value}
		if !c.twice(written, key, f.Pos) {
			set(f)
		}
	}
	return v
}

// twice reports a duplicate key of a mapping.
func (c *converter) twice(written map[string]lynq.Pos, key string, pos lynq.Pos) bool {
	first, twice := written[key]
	if twice {
		what := fmt.Sprintf("key %q appears twice", key)
		if first.Line > 0 {
			what += fmt.Sprintf(", first on line %d", first.Line)
		}
		c.stream.Problems = append(c.stream.Problems, lynq.Problem{Pos: pos, What: what, Fix: "remove one of them"})
	}
	written[key] = pos
	return twice
}

// merged returns the fields of a merge key.
func (c *converter) merged(n *yaml.Node, depth int) []Field {
	sources := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		sources = n.Content
	}
	var fields []Field
	// Earlier sources win over later ones, so they come last.
	for i := len(sources) - 1; i >= 0; i-- {
		source := sources[i]
		target := source
		if source.Kind == yaml.AliasNode {
			target = source.Alias
		}
		if target.Kind != yaml.MappingNode {
			c.stream.Problems.Add(c.pos(source), "give << a mapping, or a list of mappings", "a merge key needs a mapping")
			continue
		}
		fields = append(fields, c.value(source, depth+1, true).Fields...)
	}
	return fields
}

// key returns the text of a mapping key, or false if it has none.
func (c *converter) key(n *yaml.Node) (string, bool) {
	pos := c.pos(n)
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case n.Kind == yaml.MappingNode:
		c.stream.Problems.Add(pos, `quote the template: "{{ ... }}"`, "YAML error: a mapping is used as a key")
		return "", false
	case n.Kind != yaml.ScalarNode:
		c.stream.Problems.Add(pos, "write a string", "YAML error: a list is used as a key")
		return "", false
	case n.Style&yaml.TaggedStyle != 0 && n.ShortTag() != "!!str":
		c.stream.Problems.Add(pos, "remove the tag", "tag %s on a key is not supported", n.Tag)
		return "", false
	case n.Style&yaml.TaggedStyle != 0 || isQuoted(n):
		return n.Value, true
	}
	key, err := plainKey(n.Value)
	if err != nil {
		c.stream.Problems.Add(pos, "quote it", "%s cannot be a key", strconv.Quote(n.Value))
		return "", false
	}
	if key != n.Value {
		c.stream.Warnings.Add(pos, "quote it if that is not meant", "key %s is read as %q, as kubectl does", n.Value, key)
	}
	return key, true
}
