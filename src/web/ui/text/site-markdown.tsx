import { Marked, Renderer } from 'marked'
import { memo } from 'react'
import { HtmlBody } from './html-body.tsx'
import styles from './prose.module.css'

const { code, link, listitem, table } = Renderer.prototype

/** External links open in a new tab, and wide content scrolls, by keyboard too. */
const markdown = new Marked({
  renderer: {
    code(token) {
      return code.call(this, token).replace('<pre>', '<pre tabindex="0">')
    },
    link(token) {
      const html = link.call(this, token)
      return token.href.startsWith('#') ? html : html.replace('<a ', '<a target="_blank" ')
    },
    listitem(token) {
      const html = listitem.call(this, token)
      return token.task ? html.replace('<li>', '<li class="task-list-item">') : html
    },
    table(token) {
      return `<div class="${styles.wide}" tabindex="0">${table.call(this, token)}</div>`
    },
    // Form elements are not safe here.
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  },
})

/** Markdown with HTML in it, as operators write it. The same text is not parsed twice. */
export const SiteMarkdown = memo(function SiteMarkdown({ text }: { text: string }) {
  return <HtmlBody html={markdown.parse(text, { async: false })} />
})
