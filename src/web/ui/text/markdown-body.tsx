import { memo } from 'react'
import ReactMarkdown, { type Components, defaultUrlTransform } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import remend from 'remend'
import { CodeBlock } from './code-block.tsx'
import { isDataUrlPicture, MarkdownImage } from './markdown-image.tsx'
import styles from './prose.module.css'

export interface MarkdownProps {
  readonly text: string
  /** Incomplete syntax is closed, so that a growing text does not flicker. */
  readonly streaming: boolean
}

const plugins = [remarkGfm]

/** Images of other sites are loaded when the reader asks for them. */
const components: Components = {
  a: ({ node: _, children, ...rest }) => (
    <a {...rest} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ),
  pre: ({ node: _, ...rest }) => <CodeBlock {...rest} />,
  table: ({ node: _, ...rest }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable
    <div className={styles.wide} tabIndex={0}>
      <table {...rest} />
    </div>
  ),
  img: ({ src, alt }) => <MarkdownImage address={typeof src === 'string' ? src : ''} alt={alt ?? ''} />,
}

/** URLs with a script scheme are removed. Of data URLs only raster images are allowed, and only as images. */
function safeAddress(address: string, attribute: string): string {
  return attribute === 'src' && isDataUrlPicture(address) ? address : defaultUrlTransform(address)
}

/** The parser and its tree; the same text is not parsed twice. */
export const MarkdownBody = memo(function MarkdownBody({ text, streaming }: MarkdownProps) {
  return (
    <ReactMarkdown remarkPlugins={plugins} components={components} urlTransform={safeAddress}>
      {streaming ? remend(text) : text}
    </ReactMarkdown>
  )
})
