import { Markdown } from './markdown.tsx'
import styles from './prose.module.css'
import { SafeHtml } from './safe-html-view.tsx'

/** What an operator wrote for a page: a page elsewhere (an https address), HTML made safe, or Markdown. */
export function SiteContent({ text, title }: { text: string; title: string }) {
  const trimmed = text.trim()
  if (/^https:\/\/\S+$/.test(trimmed)) {
    return <iframe className={styles.frame} src={trimmed} title={title} sandbox="allow-scripts allow-forms allow-popups" />
  }
  if (hasTag(trimmed)) return <SafeHtml html={trimmed} />
  return <Markdown text={trimmed} />
}

function hasTag(text: string): boolean {
  const at = text.search(/<[a-z]/i)
  return at >= 0 && text.includes('>', at)
}
