import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import styles from './prose.module.css'
import { SafeHtml } from './safe-html-view.tsx'

const SiteMarkdown = lazy(async () => ({ default: (await import('./site-markdown.tsx')).SiteMarkdown }))

/** The operator's content of a page: an https address is framed, anything else is a text. */
export function SiteContent({ text, title }: { text: string; title: string }) {
  const address = text.trim()
  if (!/^https:\/\/\S+$/.test(address)) return <SiteText text={text} />
  return <iframe className={styles.frame} src={address} title={title} sandbox="allow-scripts allow-forms allow-popups" />
}

/** A text of an operator: Markdown that may contain HTML, or HTML alone. Active content is removed. */
export function SiteText({ text }: { text: string }) {
  const trimmed = text.trim()
  if (isHtml(trimmed)) return <SafeHtml html={trimmed} />
  return (
    <Suspense fallback={<Skeleton height={14} width="60%" />}>
      <SiteMarkdown text={trimmed} />
    </Suspense>
  )
}

/** HTML from its first tag to its last: as Markdown, indented parts would become code. */
function isHtml(text: string): boolean {
  return /^<[a-z!][\w-]*[\s/>]/i.test(text) && text.endsWith('>')
}
