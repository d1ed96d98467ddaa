// Shows sessions of a terminal: commands in color, their output plain. The copy button
// copies commands only.
const text = (node) => (node.type === 'text' ? node.value : (node.children ?? []).map(text).join(''))
const notCopied = 'vp-copy-ignore'

/** A Shiki transformer for blocks of the language console. */
export const sessions = {
  name: 'lynqctl:sessions',
  code(code) {
    if (this.options.lang !== 'console') return
    const lines = code.children.filter((node) => node.type === 'element')
    code.children = lines.flatMap((line, i) => {
      const end = i < lines.length - 1 ? [{ type: 'text', value: '\n' }] : []
      if (/^[$>] /.test(text(line))) return [command(line), ...end]
      return [span(`line ${notCopied}`, [{ type: 'text', value: text(line) }, ...end])]
    })
  },
}

/** Takes the prompt out of the text that is copied. */
function command(line) {
  const prompt = text(line).slice(0, 2)
  let rest = prompt.length
  const visit = (node) => {
    if (node.type === 'text') {
      const cut = Math.min(rest, node.value.length)
      node.value = node.value.slice(cut)
      rest -= cut
    }
    node.children?.forEach(visit)
  }
  visit(line)
  line.children.unshift(span(`prompt ${notCopied}`, [{ type: 'text', value: prompt }]))
  return line
}

function span(names, children) {
  return { type: 'element', tagName: 'span', properties: { class: names }, children }
}
