// Builds the site from docs/ and README.md into site/dist.
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'vitepress'
import { brokenLinks, lostSearches } from './check.mjs'
import { home, readme } from './home.mjs'
import { address, navigation, root } from './pages.mjs'

const here = import.meta.dirname
const dist = path.join(here, 'dist')

/** Copies the pages: docs/ itself gets no home page, because only the site needs one. */
function copyPages() {
  const pages = path.join(here, 'pages')
  rmSync(pages, { recursive: true, force: true })
  mkdirSync(pages)
  cpSync(path.join(root, 'docs'), pages, { recursive: true })
  writeFileSync(path.join(pages, 'index.md'), home(navigation()))
}

/** Writes the table of contents that language models look for (llmstxt.org). */
function writeContents() {
  const lines = ['# lynqctl', '', `> ${readme().sentence}`, '', readme().use]
  for (const group of navigation()) {
    lines.push('', `## ${group.text}`, '')
    for (const p of group.pages) lines.push(`- [${p.title}](${new URL(`${p.name}.html`, address)}): ${p.summary}`)
  }
  writeFileSync(path.join(dist, 'llms.txt'), lines.join('\n') + '\n')
}

copyPages()
await build(here)
writeContents()
const broken = [...brokenLinks(dist), ...await lostSearches(dist)]
if (broken.length) {
  console.error(broken.join('\n'))
  process.exit(1)
}
