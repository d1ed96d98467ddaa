// Makes the home page from README.md, so that no text exists twice.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { paragraphs, plain, repository, root, target } from './pages.mjs'

const reasons = 'Why you can trust it with your tenants'
const sections = ['Install', 'What it does', 'Compared with other tools']
const first = ['getting-started', 'install']

export function readme() {
  const text = readFileSync(path.join(root, 'README.md'), 'utf8')
  const [opening, ...rest] = text.split(/^## /m)
  const [sentence, use] = paragraphs(opening).map(plain)
  return { opening, sentence, use, sections: new Map(rest.map((s) => [s.slice(0, s.indexOf('\n')), s])) }
}

/** Returns the home page; navigation provides the titles of the buttons. */
export function home(navigation) {
  const from = readme()
  const titles = new Map(navigation.flatMap((g) => g.pages).map((p) => [p.name, p.title]))
  const matter = {
    layout: 'home',
    hero: {
      name: 'lynqctl',
      text: from.sentence.replace(/^lynqctl /, ''),
      tagline: from.use,
      actions: [
        ...first.map((name, i) => ({ theme: i ? 'alt' : 'brand', text: titles.get(name), link: `/${name}` })),
        { theme: 'alt', text: 'GitHub', link: repository },
      ],
    },
    picture: /^```\n([\s\S]*?)^```/m.exec(from.opening)[1],
    features: features(section(from, reasons)),
  }
  const [recording] = /^<picture>[\s\S]*?^<\/picture>/m.exec(from.opening) ?? ['']
  const body = [recording, ...sections.map((name) => `## ${section(from, name)}`)].join('\n\n')
  return `---\n${JSON.stringify(matter, null, 2)}\n---\n\n${body}`
}

function section(from, name) {
  if (!from.sections.has(name)) throw new Error(`README.md: there is no section "${name}", which site/home.mjs shows`)
  return from.sections.get(name)
}

/** Turns rows such as "| **title** | text ([page](docs/page.md)) |" into cards. */
function features(text) {
  return [...text.matchAll(/^\| \*\*(.+?)\*\* \| (.+) \|$/gm)].map(([, title, details]) => {
    const [, body, linkText, link] = /^(.*?)(?: \(\[([^\]]+)\]\(([^)]+)\)\))?$/.exec(details)
    return { title, details: html(body), link: link && target(link, 'README.md').replace(/^\./, ''), linkText }
  })
}

function html(markdown) {
  return markdown.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/`([^`]+)`/g, '<code>$1</code>')
}
