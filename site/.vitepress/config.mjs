import { defineConfig } from 'vitepress'
import { sessions } from '../console.mjs'
import { readme } from '../home.mjs'
import { address, anchor, navigation, repository, target } from '../pages.mjs'
import { words } from '../words.mjs'

const groups = navigation()
const pages = new Map(groups.flatMap((g) => g.pages).map((p) => [`${p.name}.md`, p]))
const item = (name) => ({ text: pages.get(`${name}.md`).title, link: `/${name}` })

export default defineConfig({
  title: 'lynqctl',
  description: readme().sentence,
  lang: 'en',
  base: address.pathname,
  srcDir: 'pages',
  outDir: 'dist',
  cacheDir: 'node_modules/.cache/vitepress',
  sitemap: { hostname: address.href },
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${address.pathname}icon.svg` }]],
  vite: { publicDir: '../public' },
  markdown: { config: asOnGitHub, anchor: { slugify: anchor }, attrs: { disable: true }, codeTransformers: [sessions] },
  transformPageData: (data) => ({ description: pages.get(data.relativePath)?.summary }),
  themeConfig: {
    nav: ['getting-started', 'commands', 'runbook'].map(item),
    sidebar: groups.map((g) => ({ text: g.text, collapsed: g.text === 'Commands' ? true : undefined, items: g.pages.map((p) => item(p.name)) })),
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/docs/:path` },
    search: { provider: 'local', options: { miniSearch: { options: { tokenize: words } } } },
  },
})

/** Renders Markdown as GitHub does: no emoji names, no Vue expressions, no comments. */
function asOnGitHub(md) {
  md.disable('emoji')
  change(md, 'text', (html) => html.replaceAll('{{', '&#123;&#123;'))
  change(md, 'code_inline', (html) => html.replaceAll('{{', '&#123;&#123;'))
  change(md, 'html_block', (html) => html.replace(/<!--[\s\S]*?-->\s*/g, ''))
  change(md, 'html_block', bothThemes)
  md.core.ruler.push('repository-links', (state) => {
    const page = state.env.relativePath
    const file = page === 'index.md' ? 'README.md' : `docs/${page}`
    for (const token of state.tokens.flatMap((t) => t.children ?? [])) {
      if (token.type === 'link_open') token.attrSet('href', target(token.attrGet('href'), file))
    }
  })
}

/** Shows a picture in the theme that the reader chose, which need not be the system's. */
function bothThemes(html) {
  const image = (src, alt, theme) => `<img class="only-${theme}" alt="${alt}" src="./${src.replace(/^docs\//, '')}">`
  return html.replace(/<picture>\s*<source [^>]*srcset="([^"]+)">\s*<img alt="([^"]*)" src="([^"]+)">\s*<\/picture>/g,
    (_, dark, alt, light) => image(light, alt, 'light') + image(dark, alt, 'dark'))
}

/** Changes the HTML of one kind of token. */
function change(md, kind, edit) {
  const rule = md.renderer.rules[kind]
  md.renderer.rules[kind] = (...args) => edit(rule(...args))
}
