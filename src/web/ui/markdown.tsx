import { Skeleton } from '@mantine/core'
import { lazy, Suspense } from 'react'
import type { MarkdownProps } from './markdown-body.tsx'
import styles from './prose.module.css'

const LazyMarkdown = lazy(async () => ({ default: (await import('./markdown-body.tsx')).MarkdownBody }))

/** The answer of a model, whom nobody trusts: Markdown of which HTML stays text. The parser is loaded when first needed. */
export function Markdown(props: MarkdownProps) {
  return (
    <div className={styles.prose}>
      <Suspense fallback={<Skeleton height={14} width="60%" />}>
        <LazyMarkdown {...props} />
      </Suspense>
    </div>
  )
}
