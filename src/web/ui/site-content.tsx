import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { Markdown } from './markdown.tsx'
import styles from './prose.module.css'

const LazyHtml = lazy(async () => ({ default: (await import('./html-body.tsx')).HtmlBody }))

/** What an operator wrote for a page: a page elsewhere (an https address), HTML made safe, or Markdown. */
export function SiteContent({ text, title }: { text: string; title: string }) {
  const trimmed = text.trim()
  if (/^https:\/\/\S+$/.test(trimmed)) {
    return (
      <iframe
        className={styles.frame}
        src={trimmed}
        title={title}
        sandbox="allow-scripts allow-same-origin allow-forms allow-popups"
      />
    )
  }
  if (/<[a-z][^>]*>/i.test(trimmed)) return <SafeHtml html={trimmed} />
  return <Markdown text={trimmed} />
}

export function SafeHtml({ html }: { html: string }) {
  return (
    <Suspense fallback={<Skeleton height={14} width="40%" />}>
      <LazyHtml html={html} />
    </Suspense>
  )
}
