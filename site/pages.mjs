// Finds the pages of the documentation, their titles and their place in the navigation.
import { readFileSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'

export const root = path.resolve(import.meta.dirname, '..')
export const repository = 'https://github.com/lynqctl/lynqctl'
// A fork publishes elsewhere: the workflow passes the address that GitHub Pages assigns.
export const address = new URL((process.env.SITE_URL || 'https://lynqctl.github.io/lynqctl').replace(/\/*$/, '/'))

const groups = [
  ['Start', ['getting-started', 'install', 'concepts', 'existing', 'coming-from-the-operator']],
  ['Write hubs and forms', ['forms', 'templates', 'sources', 'http', 'policies']],
  ['Run', ['applying', 'diff', 'findings', 'plans', 'status', 'watch', 'deleting', 'moving', 'shards', 'orphans', 'old-objects', 'inventory', 'history']],
  ['Git and CI', ['gitops', 'gitops-policies', 'ci']],
  ['Be on call', ['runbook']],
  ['Reference', ['commands', 'events', 'metrics', 'limits']],
  ['Commands', readdirSync(path.join(root, 'docs', 'commands')).sort().map((f) => `commands/${f.slice(0, -3)}`)],
  ['Review', ['security', 'robustness', 'performance']],
  ['Contribute', ['contributing', 'contributing-cluster', 'architecture']],
]

/** Returns the pages in the order of the navigation. Fails if a page has no place in it. */
export function navigation() {
  const listed = groups.flatMap(([, names]) => names)
  const files = readdirSync(path.join(root, 'docs')).filter((f) => f.endsWith('.md')).map((f) => f.slice(0, -3))
  const missing = files.filter((name) => !listed.includes(name))
  if (missing.length) throw new Error(`site/pages.mjs: add to a group: ${missing.join(', ')}`)
  return groups.map(([text, names]) => ({ text, pages: names.map(page) }))
}

function page(name) {
  const text = readFileSync(path.join(root, 'docs', `${name}.md`), 'utf8')
  return { name, title: title(text, `docs/${name}.md`), summary: firstSentence(text) }
}

export function title(text, file) {
  const found = /^# (.+)\n/.exec(text)
  if (!found) throw new Error(`${file}: begin the page with a title (# ...)`)
  return found[1]
}

/** Returns the first sentence of a page as plain text. */
export function firstSentence(text) {
  return plain(paragraphs(text)[0]).match(/^.+?[.!?](?=\s|$)|^.+/)[0].replace(/:$/, '.')
}

/** Returns the paragraphs of prose: no headings, blocks of code, comments, lists or tables. */
export function paragraphs(text) {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '').replace(/<!--[\s\S]*?-->/g, '')
  return prose.split(/\n\s*\n/).map((p) => p.trim()).filter((p) => p && !/^[#|<>-]/.test(p))
}

/** Removes links, code marks and emphasis. */
export function plain(markdown) {
  return markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '').replace(/\s+/g, ' ').trim()
}

/** Names a heading as GitHub does, so that an anchor works there and here. */
export function anchor(heading) {
  return heading.trim().toLowerCase().replace(/[^\p{L}\p{M}\p{N}\- _]/gu, '').replaceAll(' ', '-')
}

/** Turns a link of a file in the repository into a link of the site, or into one to GitHub. */
export function target(link, file) {
  if (/^([a-z]+:|#|\/)/.test(link)) return link
  const [name, hash] = link.split(/(?=#)/)
  const inTree = path.posix.join(path.posix.dirname(file), name)
  if (/^docs\/.+\.md$/.test(inTree)) {
    const to = path.posix.relative(file === 'README.md' ? 'docs' : path.posix.dirname(file), inTree)
    return `${to.startsWith('.') ? '' : './'}${to}${hash || ''}`
  }
  const kind = statSync(path.join(root, inTree)).isDirectory() ? 'tree' : 'blob'
  return `${repository}/${kind}/main/${inTree}${hash || ''}`
}
