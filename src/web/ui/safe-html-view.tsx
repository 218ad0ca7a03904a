import { lazy, Suspense } from 'react'

const LazyHtml = lazy(async () => ({ default: (await import('./html-body.tsx')).HtmlBody }))

/** HTML of a setting, made safe; what does that is loaded when first needed. */
export function SafeHtml({ html }: { html: string }) {
  return (
    <Suspense>
      <LazyHtml html={html} />
    </Suspense>
  )
}
