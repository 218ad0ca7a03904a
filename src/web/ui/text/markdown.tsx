import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { MarkdownProps } from './markdown-body.tsx'
import styles from './prose.module.css'

const LazyMarkdown = lazy(async () => ({ default: (await import('./markdown-body.tsx')).MarkdownBody }))

/** A model's answer, which is untrusted: Markdown whose HTML stays text. The parser is loaded on demand. */
export function Markdown(props: MarkdownProps) {
  return (
    <div className={styles.prose}>
      <Suspense fallback={<Skeleton height={14} width="60%" />}>
        <LazyMarkdown {...props} />
      </Suspense>
    </div>
  )
}
