import { lazy, Suspense } from 'react'

const LazyHtml = lazy(async () => ({ default: (await import('./html-body.tsx')).HtmlBody }))

/** HTML of a setting, sanitised; the sanitiser is loaded on demand. */
export function SafeHtml({ html }: { html: string }) {
  return (
    <Suspense>
      <LazyHtml html={html} />
    </Suspense>
  )
}
