import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { MarkdownProps } from './markdown-body.tsx'
import styles from './prose.module.css'

const LazyMarkdown = lazy(async () => ({ default: (await import('./markdown-body.tsx')).MarkdownBody }))

/** Markdown without raw HTML, such as the answer of a model. The parser is loaded when first needed. */
export function Markdown(props: MarkdownProps) {
  return (
    <div className={styles.prose}>
      <Suspense fallback={<Skeleton height={14} width="60%" />}>
        <LazyMarkdown {...props} />
      </Suspense>
    </div>
  )
}
