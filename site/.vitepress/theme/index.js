import { h } from 'vue'
import { useData } from 'vitepress'
import Theme from 'vitepress/theme'
import './style.css'

// The picture comes from README.md, too, and stands between the buttons and the cards.
const Picture = () => h('div', { class: 'picture' }, h('pre', useData().frontmatter.value.picture))

export default {
  extends: Theme,
  Layout: () => h(Theme.Layout, null, { 'home-hero-after': () => h(Picture) }),
}
